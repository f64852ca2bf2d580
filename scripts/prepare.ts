/** What the tests need from the machine, installed where it is missing and we may; said loudly where not. */
import {spawnSync} from 'node:child_process'
import {existsSync} from 'node:fs'

const libraries = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`

interface Group {
  /** Which suites use them. */
  suites: string[]
  /** Debian packages, each with a file that shows it is there. */
  packages: Record<string, string>
}

const GROUPS: Group[] = [
  {
    suites: ['unit', 'node', 'native', 'integration', 'e2e'],
    packages: {
      'openssh-client': '/usr/bin/ssh',
      git: '/usr/bin/git',
      openssl: '/usr/bin/openssl',
      curl: '/usr/bin/curl',
    },
  },
  {
    suites: ['integration', 'e2e'],
    packages: {
      'openssh-server': '/usr/sbin/sshd',
      rsync: '/usr/bin/rsync',
      systemd: '/lib/systemd/systemd',
      chromium: '/usr/bin/chromium',
    },
  },
  {
    // What builds the native layer.
    suites: ['native', 'integration', 'e2e'],
    packages: {
      cmake: '/usr/bin/cmake',
      'g++': '/usr/bin/g++',
      'ninja-build': '/usr/bin/ninja',
      ccache: '/usr/bin/ccache',
      'libssl-dev': `${libraries}/libssl.a`,
      'libzstd-dev': `${libraries}/libzstd.a`,
      'liblz4-dev': `${libraries}/liblz4.a`,
    },
  },
  {
    // What its tests are written with.
    suites: ['native'],
    packages: {
      'doctest-dev': '/usr/include/doctest/doctest.h',
      'opencl-c-headers': '/usr/include/CL/cl.h',
      'ocl-icd-opencl-dev': `${libraries}/libOpenCL.so`,
    },
  },
  {
    suites: ['fuzzing'],
    packages: {'clang-14': '/usr/bin/clang++-14', 'libclang-rt-14-dev': '/usr/lib/llvm-14/lib/clang/14.0.6/lib/linux'},
  },
  {
    // Programs of another kind of machine, and extension modules of projects.
    suites: ['long'],
    packages: {'qemu-user-static': '/usr/bin/qemu-aarch64-static', 'python3-dev': '/usr/bin/python3-config'},
  },
  {
    // What people edit files of a host of SSH with.
    suites: ['long'],
    packages: {'emacs-nox': '/usr/bin/emacs', vim: '/usr/bin/vim', sshfs: '/usr/bin/sshfs'},
  },
  {
    // What starts services after a reboot.
    suites: ['node', 'integration'],
    packages: {systemd: '/lib/systemd/systemd', cron: '/usr/sbin/cron'},
  },
  {
    // What saves workspaces.
    suites: ['node', 'integration'],
    packages: {restic: '/usr/bin/restic'},
  },
  {
    // A real OpenCL device on the CPU, with programs that use one.
    suites: ['native', 'integration', 'e2e'],
    packages: {
      'pocl-opencl-icd': '/etc/OpenCL/vendors/pocl.icd',
      'ocl-icd-libopencl1': `${libraries}/libOpenCL.so.1`,
      clinfo: '/usr/bin/clinfo',
      clpeak: '/usr/bin/clpeak',
      'clblast-utils': '/usr/bin/clblast_tuner_copy_fast',
    },
  },
  {
    // A real Slurm: controller, nodes, commands.
    suites: ['integration', 'e2e'],
    packages: {
      munge: '/usr/sbin/munged',
      slurmctld: '/usr/sbin/slurmctld',
      slurmd: '/usr/sbin/slurmd',
      'slurm-client': '/usr/bin/sbatch',
    },
  },
  {
    // A real Open MPI, and its compiler.
    suites: ['node', 'integration', 'e2e'],
    packages: {'openmpi-bin': '/usr/bin/mpirun', 'libopenmpi-dev': '/usr/bin/mpicc'},
  },
  {
    // Runtimes of images besides bubblewrap.
    suites: ['node'],
    packages: {charliecloud: '/usr/bin/ch-run', proot: '/usr/bin/proot'},
  },
  {
    // A real registry of images, and what pushes to it.
    suites: ['integration'],
    packages: {'docker-registry': '/usr/bin/docker-registry', skopeo: '/usr/bin/skopeo'},
  },
  {
    // A real Prometheus, and what tells it of nodes.
    suites: ['integration'],
    packages: {prometheus: '/usr/bin/prometheus', 'prometheus-node-exporter': '/usr/bin/prometheus-node-exporter'},
  },
  {
    // A real directory.
    suites: ['integration'],
    packages: {slapd: '/usr/sbin/slapd'},
  },
  {
    // What guests of a shared folder use.
    suites: ['integration'],
    packages: {rsync: '/usr/bin/rsync'},
  },
  {
    // Faults of a network: several hosts on one machine, and links that drop packets.
    suites: ['node', 'native', 'integration', 'e2e'],
    packages: {iproute2: '/sbin/ip', iptables: '/usr/sbin/iptables'},
  },
]

/**
 * Installs missing Debian packages that these suites use, as root; without root, names what will fail and how to
 * install it. Throws if python3 has no venv.
 */
export async function prepareMachine(suites: string[]): Promise<void> {
  const wanted = GROUPS.filter((group) => group.suites.some((name) => suites.includes(name))).flatMap((group) =>
    Object.entries(group.packages),
  )
  const missing = wanted.filter(([, file]) => !existsSync(file)).map(([name]) => name)
  if (missing.length > 0) installPackages(missing)
  if (suites.every((name) => name === 'checks' || name === 'unit')) return
  const venv = spawnSync('python3', ['-c', 'import venv, ensurepip'], {stdio: 'ignore'})
  if (venv.status !== 0) throw new Error('python3 with venv is needed: apt-get install python3 python3-venv')
}

function installPackages(names: string[]): void {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    console.error(
      `!! missing: ${names.join(', ')}. Tests that need them will fail; install them with: sudo apt-get install ${names.join(' ')}`,
    )
    return
  }
  console.log(`installing ${names.join(', ')} with apt-get`)
  const env = {...process.env, DEBIAN_FRONTEND: 'noninteractive'}
  // A running system must not get a new listening sshd from a test run: the packaged service is told not to start.
  const policy = '/usr/sbin/policy-rc.d'
  const ownPolicy = !existsSync(policy)
  const script = [
    ownPolicy ? `printf '#!/bin/sh\\nexit 101\\n' > ${policy} && chmod 755 ${policy}` : 'true',
    `(apt-get install -y -q --no-install-recommends ${names.join(' ')} || (apt-get update -q && apt-get install -y -q --no-install-recommends ${names.join(' ')}))`,
  ].join(' && ')
  const done = spawnSync('sh', ['-c', `${script} >&2`], {env, stdio: ['ignore', 'ignore', 'inherit']})
  if (ownPolicy) spawnSync('rm', ['-f', policy])
  if (done.status !== 0)
    console.error(`!! apt-get could not install ${names.join(', ')}; tests that need them will fail`)
}
