/** The page's one style. No style stands in documents: the policy forbids it, so a name of a run brings none. */
export const STYLE = String.raw`
:root{--bg:#f6f6f4;--panel:#fff;--line:#e0e0db;--soft:#efefeb;--text:#1b1c1f;--muted:#5a5e66;--accent:#2457c5;--fill:#b9cdf5;--good:#17722f;--raised:#855400;--bad:#bb1f2b;--c0:#0068ad;--c1:#b84a00;--c2:#007a59;--c3:#a8477e;--c4:#5a4fcf;--c5:#8a6d00;--c6:#c0262d;--c7:#555;
font:15px/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums;color-scheme:light dark}
@media screen and (prefers-color-scheme:dark){:root{--bg:#121315;--panel:#191b1e;--line:#2d3036;--soft:#212429;--text:#e7e8ea;--muted:#a3a8b1;--accent:#8db2ff;--fill:#2c4677;--good:#63c681;--raised:#e2b65c;--bad:#ff8f8a;--c0:#6cb8f0;--c1:#ff9a5c;--c2:#4fcfa6;--c3:#eb9ac6;--c4:#a9a1ff;--c5:#e0c04c;--c6:#ff8f8a;--c7:#bbb}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--text);min-height:100vh;display:flex;flex-direction:column}
a{color:var(--accent);text-decoration:none}
a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:3px}
main:focus{outline:none}
code,pre,.run{font-family:ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;font-size:.9em}
h1{font-size:1.35rem;font-weight:650;margin:0 0 12px;letter-spacing:-.01em}
h2{font-size:.8rem;font-weight:650;margin:0 0 8px;color:var(--muted);text-transform:uppercase;letter-spacing:.06em}
small{color:var(--muted);font-size:.8rem}
td small,th small{display:block;line-height:1.3;font-weight:400}
.unseen,.skip:not(:focus){position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip:focus{position:absolute;left:8px;top:8px;background:var(--panel);padding:8px 16px;z-index:9}
.top{display:flex;align-items:center;gap:8px 24px;padding:0 24px;background:var(--panel);border-bottom:1px solid var(--line);flex-wrap:wrap}
.brand{display:flex;align-items:center;gap:8px;color:var(--text);padding:12px 0}
.brand b{color:var(--muted);font-weight:450}
.brand svg{width:20px;height:20px}.brand rect{fill:var(--accent)}.brand path{stroke:var(--panel);stroke-width:1.8}
nav{display:flex;gap:4px;overflow-x:auto;scrollbar-width:none;align-self:stretch}
nav a{color:var(--muted);padding:0 10px;display:flex;align-items:center;border-bottom:2px solid transparent;border-top:2px solid transparent;min-height:44px;white-space:nowrap}
nav a:hover{color:var(--text);text-decoration:none}
nav a[aria-current]{color:var(--text);border-bottom-color:var(--accent);font-weight:550}
.tail{margin-left:auto;display:flex;gap:16px;align-items:center;color:var(--muted);white-space:nowrap}
.pulse.live::before,.pulse.lost::before{content:"";display:inline-block;width:8px;height:8px;border-radius:50%;background:var(--good);margin-right:6px}
.pulse.lost{position:fixed;top:8px;right:12px;z-index:9;padding:5px 12px;border:1px solid var(--bad);border-radius:6px;background:var(--panel);color:var(--text);max-width:calc(100vw - 24px);white-space:normal}.pulse.lost::before{background:var(--bad)}
.tag{border:1px solid var(--line);border-radius:4px;padding:1px 7px;font-size:.8rem}
main{padding:20px 24px 32px;max-width:1560px;width:100%;margin:0 auto;flex:1}
section{margin:0 0 28px}section:empty{display:none}
footer{padding:14px 24px;color:var(--muted);border-top:1px solid var(--line);display:flex;gap:8px;align-items:center;flex-wrap:wrap;font-size:.86rem}
.command{background:var(--soft);padding:3px 8px;border-radius:4px;color:var(--text);overflow-wrap:anywhere}
select,input{max-width:100%}.filter select{max-width:240px}button,select,input{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--line);border-radius:5px;padding:5px 12px;min-height:34px}
button{cursor:pointer}button:hover{border-color:var(--muted)}
button.danger{background:var(--bad);border-color:var(--bad);color:var(--panel);font-weight:600}
.copy{min-height:26px;padding:1px 8px;font-size:.8rem}
.button{display:inline-flex;align-items:center;min-height:34px;border:1px solid var(--line);border-radius:5px;padding:4px 12px;background:var(--panel);color:var(--text)}
.button,button{white-space:nowrap}.button:hover{border-color:var(--muted);text-decoration:none}.button.danger{color:var(--bad)}
.tiles{display:flex;flex-wrap:wrap;margin:0 0 24px;background:var(--panel);border:1px solid var(--line);border-radius:8px;overflow:hidden}
.tile{padding:12px 20px;flex:1 1 140px;border-right:1px solid var(--line);border-bottom:1px solid var(--line);margin:0 -1px -1px 0}
.tile dt{color:var(--muted);font-size:.8rem}
.tile dd{margin:2px 0 0;font-size:1.5rem;font-weight:600;line-height:1.2;white-space:nowrap}
.tile dd small{font-size:.8rem;font-weight:400;margin-left:6px}
.tile.bad dd,.bad{color:var(--bad)}.tile.raised dd small{color:var(--raised)}
.scroll{position:relative;overflow-x:auto;background:linear-gradient(90deg,var(--panel) 40%,transparent) 0 0/48px 100% no-repeat local,linear-gradient(270deg,var(--panel) 40%,transparent) 100% 0/48px 100% no-repeat local,linear-gradient(90deg,var(--line),transparent) 0 0/16px 100% no-repeat,linear-gradient(270deg,var(--line),transparent) 100% 0/16px 100% no-repeat,var(--panel);border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:7px 14px;vertical-align:top;border-top:1px solid var(--line)}
thead th{border-top:0;color:var(--muted);font-weight:500;font-size:.8rem;padding-top:8px;padding-bottom:8px;white-space:nowrap}
tbody th{font-weight:550}
tbody tr:hover{background:color-mix(in srgb,var(--soft) 55%,transparent)}
.number{white-space:nowrap}.value{overflow-wrap:anywhere;max-width:44ch}
.nodes td{white-space:nowrap}.nodes td:nth-of-type(4){width:58%;min-width:420px}.nodes .why{white-space:normal}
.nodes td:nth-of-type(2),.nodes td:nth-of-type(3){min-width:110px}.nodes .run{display:block;max-width:20ch;overflow:hidden;text-overflow:ellipsis}.nodes th{max-width:24ch;overflow-wrap:anywhere}
.raised{color:var(--raised)}details{margin-top:10px}summary{cursor:pointer;color:var(--muted);padding:4px 2px;margin-bottom:6px;width:fit-content}td[data-name=nodes]{white-space:nowrap}
.why,.cause{color:var(--bad)}td .cause{color:var(--bad);min-width:24ch;max-width:44ch;overflow-wrap:anywhere;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden}.marked{position:sticky;bottom:0;padding:8px 0;margin:0;background:var(--bg)}
.meter{display:block;width:100%;max-width:160px;height:6px;border-radius:3px;margin:8px 0 6px}
.meter .track{fill:var(--soft)}.meter .fill{fill:var(--accent);transition:width .6s}
.meter.raised .fill{fill:var(--raised)}.meter.high .fill{fill:var(--bad)}
.pair{display:flex;gap:10px;align-items:center}.pair b{font-weight:550;min-width:3em;order:-1}
.spark{width:96px;height:20px;flex:none}.spark polyline{fill:none;stroke:var(--accent);stroke-width:1.5;vector-effect:non-scaling-stroke}.spark .area{fill:var(--accent);opacity:.14}
.gpus{display:grid;grid-template-columns:repeat(8,minmax(0,1fr));gap:4px;max-width:860px}
.gpu{position:relative;display:flex;flex-direction:column;justify-content:center;min-width:0;height:38px;padding:0 7px 2px;line-height:1.2;border:1px solid var(--line);border-radius:4px;overflow:hidden;background:var(--panel)}
.gpu svg{position:absolute;inset:0;width:100%;height:100%}
.gpu .memory{fill:var(--fill);transition:y .6s,height .6s}.gpu .busy{fill:var(--accent);transition:width .6s}
.gpu b,.gpu small{position:relative;font-weight:550;font-size:.78rem;color:var(--text);white-space:nowrap}
.gpu small{font-weight:400}
.gpu.free{border-style:dashed}.gpu.free b,.gpu.free small{color:var(--muted);font-weight:400}
.gpu.taken{border-color:var(--accent)}
.gpu.idle{border-color:var(--raised)}.gpu.idle small{color:var(--raised)}
.gpu.remote,.key.remote{background-image:repeating-linear-gradient(-45deg,transparent 0 5px,color-mix(in srgb,var(--accent) 22%,transparent) 5px 6px)}
.gpu.unshared{align-items:center;border-style:dotted}.gpu.unshared.taken{border-style:solid}
.legend{display:flex;flex-wrap:wrap;gap:4px 20px;color:var(--muted);font-size:.8rem;margin:10px 2px 0}
.key{display:inline-block;width:16px;height:11px;border:1px solid var(--line);border-radius:2px;margin-right:6px;vertical-align:-1px}
.key.free{border-style:dashed}.key.taken{border-color:var(--accent);background:linear-gradient(0deg,var(--fill) 55%,transparent 0)}.key.remote{border-color:var(--accent)}.key.line{border:0;border-bottom:3px solid var(--accent);border-radius:0}
.state{white-space:nowrap;display:inline-flex;align-items:center;gap:7px}
.state i{width:8px;height:8px;border-radius:50%;background:var(--muted);flex:none}
.state.good i{background:var(--good)}.state.bad{color:var(--bad)}.state.bad i{background:var(--bad);border-radius:1px}
.state.active i{background:none;border:2px solid var(--accent);border-right-color:transparent;width:10px;height:10px;animation:turn 1.6s linear infinite}
@keyframes turn{to{transform:rotate(1turn)}}
.values span{white-space:nowrap;display:block}.values small,.facts small{display:inline;margin-right:4px}
.none{color:var(--muted);background:var(--panel);border:1px dashed var(--line);border-radius:8px;padding:18px 20px;margin:0}
.warn{border-left:3px solid var(--raised);background:var(--panel);padding:8px 14px;margin:0 0 12px;overflow-wrap:anywhere}
.filter{display:flex;flex-wrap:wrap;gap:8px 12px;align-items:end;margin:0 0 14px}
.filter label{color:var(--muted);font-size:.8rem;display:grid;gap:2px}.filter input[type=search]{width:260px}
.filter label.check{display:flex;gap:6px;align-items:center;min-height:34px}.check input{min-height:0;margin:0}
.idle-now td:last-child{min-width:240px}.button[aria-current]{border-color:var(--accent);font-weight:550}
.act{display:flex;gap:10px;align-items:center;margin:12px 0;flex-wrap:wrap}
.title{display:flex;flex-wrap:wrap;gap:6px 16px;align-items:center;margin-bottom:14px}.title h1{margin:0;overflow-wrap:anywhere}.title .act{margin:0 0 0 auto}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(210px,1fr));gap:10px 24px;margin:0 0 24px;background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:14px 20px}
.facts dt{color:var(--muted);font-size:.8rem}.facts dd{margin:0;overflow-wrap:anywhere}
.two{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,480px),1fr));gap:16px}
.card{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:12px 16px;min-width:0}.card h3{margin:0 0 6px;font-size:.92rem;font-weight:600;overflow-wrap:anywhere}
.curves{width:100%;height:auto;display:block;touch-action:pan-y}
.curves .grid{stroke:var(--line)}.tick{fill:var(--muted);font-size:11px}
.curve{fill:none;stroke:var(--c);stroke-width:1.7;stroke-linejoin:round}.dot{fill:var(--c)}
.c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{--c:var(--c3)}.c4{--c:var(--c4)}.c5{--c:var(--c5)}.c6{--c:var(--c6)}.c7{--c:var(--c7)}
.curve.c1,.curve.c5{stroke-dasharray:7 3}.curve.c2,.curve.c6{stroke-dasharray:2 3}.curve.c3,.curve.c7{stroke-dasharray:9 3 2 3}
.swatch{display:inline-block;width:18px;border-top:3px solid var(--c);margin-right:6px;vertical-align:4px}
.tip{position:absolute;background:var(--text);color:var(--bg);font-size:.8rem;padding:4px 9px;border-radius:4px;pointer-events:none;white-space:pre;z-index:5}
.timeline{width:100%;height:auto;display:block}.timeline text{font-size:11px;fill:var(--text)}.timeline .bar{fill:var(--fill)}.timeline .stage{fill:var(--soft);stroke:var(--line)}.timeline .s1{fill:color-mix(in srgb,var(--accent) 14%,var(--soft))}.timeline .s2{fill:color-mix(in srgb,var(--accent) 26%,var(--soft))}.timeline .s3{fill:var(--fill)}.timeline .good{fill:var(--good);opacity:.5}.timeline .bad{fill:var(--bad);opacity:.55}.timeline .active{fill:var(--accent);opacity:.6}
.log{margin:0;background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:10px 14px;max-height:62vh;overflow:auto;line-height:1.5;white-space:pre-wrap;overflow-wrap:anywhere}
.log .err{color:var(--bad)}.log mark{background:color-mix(in srgb,var(--raised) 35%,transparent);color:inherit}
.a1{font-weight:650}.a31,.a91{color:var(--bad)}.a32,.a92{color:var(--good)}.a33,.a93{color:var(--raised)}.a34,.a94,.a36,.a96{color:var(--accent)}.a35,.a95{color:var(--c3)}.a2,.a90{color:var(--muted)}
.parallel{width:100%;height:auto}.parallel polyline{fill:none;stroke:var(--accent);opacity:.45}.parallel .best{stroke:var(--c1);stroke-width:2.5;opacity:1}.parallel .axis{stroke:var(--muted)}.parallel text{paint-order:stroke;stroke:var(--panel);stroke-width:4px}.scroll+section,.card+section{margin-top:24px}
.racks{position:relative;margin:0 -10px 0 -14px}.racks summary{margin:0;padding:6px 8px}.racks ul{position:absolute;z-index:8;list-style:none;margin:0;padding:6px 0;min-width:160px;background:var(--panel);border:1px solid var(--line);border-radius:6px;box-shadow:0 6px 20px rgb(0 0 0/.16)}.racks li a{display:block;padding:7px 16px}.racks a[aria-current]{font-weight:600;color:var(--text)}
.gone,.node-name{color:var(--text)}.gone{color:var(--muted)}
.numas{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:16px}.parts{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:6px}
.part{display:grid;gap:1px;border:1px solid var(--line);border-left:3px solid var(--accent);border-radius:4px;padding:6px 10px;min-width:0;overflow-wrap:anywhere}.nic-part{border-left-color:var(--good);border-style:dashed;border-left-style:solid}.part .state{font-size:.8rem}.numa h3 small{font-weight:400}
.links td,.links th{text-align:center;padding:7px 10px}.links td{font-variant-numeric:tabular-nums}.links tbody th{text-align:left}
.near0{background:color-mix(in srgb,var(--accent) 34%,transparent)}.near1{background:color-mix(in srgb,var(--accent) 24%,transparent)}.near2{background:color-mix(in srgb,var(--accent) 16%,transparent)}.near3{background:color-mix(in srgb,var(--accent) 10%,transparent)}.near4{background:color-mix(in srgb,var(--accent) 5%,transparent)}.same{color:var(--muted)}
.origin ol{list-style:none;margin:0;padding:0}.origin ol ol{margin-left:10px;border-left:2px solid var(--line)}.origin li{padding:4px 0}.origin ol ol>li{padding-left:22px;position:relative}.origin ol ol>li::before{content:"";position:absolute;left:0;top:19px;width:16px;border-top:2px solid var(--line)}
.origin p{margin:0;display:flex;flex-wrap:wrap;gap:2px 10px;align-items:baseline;overflow-wrap:anywhere}.origin dl{display:flex;flex-wrap:wrap;gap:2px 20px;margin:2px 0 6px;font-size:.86rem}.origin dl div{display:flex;gap:6px}.origin dt{color:var(--muted)}.origin dd{margin:0;overflow-wrap:anywhere}.holds{color:var(--good)}
.ranks{width:100%;height:auto;display:block}.fast{fill:var(--fill)}.slow{fill:var(--raised)}.waits{fill:var(--accent)}.key.fast{background:var(--fill)}.key.slow{background:var(--raised)}.key.waits{background:var(--accent)}
.stack,.answer{margin:8px 0 0;overflow:auto;max-height:50vh;white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.5}.stack .l{display:block}.warn p{margin:0 0 2px}.card+.card{margin-top:12px}.two .card+.card,.numas .card+.card{margin-top:0}
.try{display:grid;gap:6px}.try label{color:var(--muted);font-size:.8rem}.try .act{margin:0}textarea{font:.9em/1.45 ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;width:100%;border:1px solid var(--line);border-radius:5px;padding:8px 10px;background:var(--bg);color:var(--text);resize:vertical}
.wide{overflow-x:auto}.wide svg{min-width:640px}
@media (max-width:1180px){.gpus{grid-template-columns:repeat(4,minmax(0,1fr))}.nodes td:nth-of-type(4){min-width:260px}}
@media (max-width:1024px){.tiles{display:grid;grid-template-columns:repeat(3,1fr)}.nodes thead{display:none}.nodes,.nodes tbody{display:block}.nodes tr{display:grid;grid-template-columns:1.1fr 1.3fr 1fr 1fr;padding:10px 14px;border-top:1px solid var(--line);gap:8px 20px}.nodes tr:first-child{border-top:0}.nodes th,.nodes td{display:block;border:0;padding:0;min-width:0!important;width:auto!important}.nodes td[data-name=GPUs],.nodes td[data-name=runs]:not(:empty){grid-column:1/-1}.nodes td.why,.nodes td.gone{grid-column:2/-1}.nodes td:empty{display:none}.nodes .run{display:inline-block;margin-right:16px}.gpus{grid-template-columns:repeat(8,minmax(0,1fr));max-width:none}}
@media (max-width:1400px){th,td{padding:7px 10px}}
@media (max-width:1200px){.tail{order:2}nav{order:3;width:calc(100% + 20px);margin:0 -10px;gap:0}}
td[data-name=run]{min-width:14ch;max-width:34ch;overflow-wrap:anywhere}@media (min-width:761px){td[data-name=started]{white-space:nowrap}}
@media (max-width:760px){main{padding:16px 12px}.top{padding:0 12px}nav{width:calc(100% + 24px);margin:0 -12px;padding:0 40px 0 4px;mask-image:linear-gradient(270deg,transparent,#000 40px)}td .cause,.target{min-width:24ch}footer{padding:14px 12px}
.tiles{grid-template-columns:1fr 1fr}.tile{padding:10px 14px}.tile dd{font-size:1.25rem;white-space:normal;display:flex;flex-wrap:wrap;gap:0 6px;align-items:baseline}.tile dd small{display:inline-block;margin:0 6px 0 0}
.nodes tr{grid-template-columns:1fr 1fr 1fr;gap:8px 14px;padding:10px 12px}.nodes .spark{display:none}.nodes th{display:flex;flex-wrap:wrap;gap:2px 10px;align-items:baseline;max-width:none;grid-column:1/-1}.nodes td[data-name=memory] small::before,.nodes td[data-name=disk] small::before{content:attr(data-of) " "}.nodes td.why,.nodes td.gone{grid-column:1/-1}.gpus{grid-template-columns:repeat(4,minmax(0,1fr))}.nodes .away th{grid-column:1/-1}
.facts{grid-template-columns:1fr 1fr;padding:12px 14px}.curves .tick{font-size:17px}
th,td{padding:7px 10px}.filter input[type=search]{width:100%}.filter label:first-child{width:100%}}
@media (prefers-reduced-motion:reduce){*{transition:none!important;animation:none!important}}
@media print{:root{color-scheme:light}nav,.racks,.tail a,footer button,.filter,.act{display:none}body{background:#fff}.scroll,.log,.wide{overflow:visible;max-height:none}tr,.card{break-inside:avoid}.tiles{break-inside:avoid}}
`
