"""Which function answers which verb: "module:function". Modules are imported only when called."""

VERBS = {
    "environment.ensure": "environment:ensure",
    "environment.list": "environment:listing",
    "environment.plan": "environment:plan",
    "environment.release": "environment:release",
    "environment.remove": "environment:remove",
    "node.facts": "facts:measure",
    "service.list": "service:list_all",
    "service.logs": "service:logs",
    "service.start": "service:start",
    "service.status": "service:status",
    "service.stop": "service:stop",
    "sync.apply": "sync:apply",
    "sync.compare": "sync:compare",
    "workspace.inspect": "workspace:inspect",
    "workspace.list": "workspace:listing",
    "workspace.remove": "workspace:remove",
    "workspace.stop": "workspace:stop",
}
