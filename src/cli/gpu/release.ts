import type {Lease} from '../../lib/gpu/index.ts'
import type {Plan} from '../../lib/plan/index.ts'

/** What `gpu release` would do. */
export function releasePlan(leases: Lease[]): Plan {
  return {
    command: 'gpu release',
    steps: leases.map(({node, lease, owner, purpose, programs}) => ({
      id: `release:${lease}`, node, kind: 'gpu.release', needs: [], input: {lease},
      title: `End lease ${lease.slice(0, 8)} of ${owner}${purpose ? ` (${purpose})` : ''}${programs > 0 ? `, with ${programs} program${programs === 1 ? '' : 's'} at work` : ''}`,
    })),
  }
}
