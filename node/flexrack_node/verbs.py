"""Which function answers which verb: "module:function". Modules are imported only when called."""

VERBS = {
    "node.facts": "facts:measure",
}
