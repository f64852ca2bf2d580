import {readFile} from 'node:fs/promises'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {startTrainRack, type TrainRack} from '../support/train.ts'

/**
 * The store of torch's agents has no authentication: who reaches its port may write to it. What an agent reads from it
 * must never be unpickled. torch's c10d rendezvous does so with its state, every five seconds (dynamic_rendezvous.py,
 * _BackendRendezvousStateHolder).
 */
const SCRIPT = `import base64, os, pathlib, pickle, time
mark = pathlib.Path(os.environ['FLEXRACK_OUTPUTS'], 'ran')
class Attack:
    def __reduce__(self):
        return os.system, (f'echo code of another user ran in $PPID > {mark}',)
pickled = pickle.dumps(Attack())
def agents_ports():
    sockets, pid = set(), os.getppid()
    while pid > 1:
        try:
            sockets.update(os.readlink(fd) for fd in pathlib.Path(f'/proc/{pid}/fd').iterdir())
            pid = int(pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[1])
        except OSError:
            break
    for name in ('tcp', 'tcp6'):
        for line in pathlib.Path('/proc/net', name).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == '0A' and f'socket:[{words[9]}]' in sockets:
                yield int(words[1].rsplit(':', 1)[1], 16)
own = [path.read_bytes().replace(b'\\0', b' ').decode(errors='replace') for path in pathlib.Path('/proc').glob('[0-9]*/cmdline') if path.parent.name == str(os.getppid()) or b'torch.distributed.run' in path.read_bytes()]
told = [os.environ['MASTER_PORT'], os.environ['TORCHELASTIC_RUN_ID']]
print('argv', sum(word in argv for word in told for argv in own), 'of', len(own) > 1, [name for name in os.environ if name.startswith('PET_')], flush=True)
if os.environ['RANK'] == '0':
    import torch.distributed as dist
    written = 0
    for port in set(agents_ports()):
        if not 20000 <= port < 32768:
            continue  # not one that a run takes for its rendezvous
        store = dist.TCPStore(os.environ['MASTER_ADDR'], port, is_master=False)
        for name in {*store.list_keys(), 'torch.rendezvous.' + os.environ['TORCHELASTIC_RUN_ID']}:
            store.set(name, base64.b64encode(pickled) if 'torch.rendezvous' in name else pickled)
            written += 1
    until = time.monotonic() + 12
    while time.monotonic() < until and not mark.exists():
        time.sleep(0.2)
    print('written', written, 'ran' if mark.exists() else 'nothing ran', flush=True)
else:
    time.sleep(12)
`

let setup: TrainRack
/** Of one run, which both tests look at: its agents import PyTorch for seconds. */
let ran: Awaited<ReturnType<TrainRack['train']>>

beforeAll(async () => {
  setup = await startTrainRack(2)
  const requirements = await readFile(
    fileURLToPath(new URL('../../templates/pytorch-ddp/requirements.txt', import.meta.url)),
    'utf8',
  )
  ran = await setup.train(SCRIPT, {requirements, spec: {launcher: 'torchrun'}})
}, 900_000)
afterAll(() => setup?.stop())

/** Lines of all ranks that begin with a word. */
const told = (word: string): string[] => ran.lines.map(({text}) => text).filter((text) => text.startsWith(word))

test('what another user writes into the store of torchrun is run by nobody', () => {
  expect(told('written')).toEqual([expect.stringMatching(/^written [1-9]\d* nothing ran$/)])
  expect(ran.trained.status).toBe('finished')
})

test('neither where the ranks meet nor under which name stands in an argv, and ranks have no settings of their launcher', () => {
  expect(told('argv')).toEqual(['argv 0 of True []', 'argv 0 of True []'])
})
