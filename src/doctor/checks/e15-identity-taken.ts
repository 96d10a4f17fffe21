import { formatTime } from '../../kube/time-format.ts'
import { shellWord } from '../../survey/explanation.ts'
import { nodeOfUser } from '../../survey/node-identity.ts'
import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'
import { aliveNodes } from '../node-lease.ts'

export const e15: Check = {
  meta: {
    id: 'E15',
    severity: 'critical',
    title: 'Every machine has a name of its own',
    failureTitle: 'Two machines use one node identity',
    symptom: 'The status and addresses of a Node flap; one machine throws the other out.',
    description:
      'Somebody with a bootstrap credential asks for the identity of a node that is alive, or two Nodes report one machine id: an image was cloned with its host name, its machine id or its pki folder. A bootstrap token may ask for any name.',
    remedy:
      'Give the clone a host name, a machine id and an empty pki folder; deny the request where you do not know who asks.',
    explains: ['C01', 'C03', 'B14'],
    reports: ['alex1989hu/kubelet-serving-cert-approver#93'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'nodeLeases'],
      audit({ requests, nodeLeases }, now) {
        const alive = aliveNodes(nodeLeases, now)
        return requests.flatMap(({ kind, state, node, newest, name, csr, created }) => {
          if (kind !== 'client' || state !== 'undecided' || !newest || node === undefined) return []
          if (!alive.has(node) || nodeOfUser(csr.spec.username) === node) return []
          return {
            object: `CertificateSigningRequest ${name}`,
            node,
            evidence: [
              {
                value: `${csr.spec.username} asks for system:node:${node}`,
                source: `CertificateSigningRequest ${name}`,
                at: formatTime(created),
              },
              { value: 'renewed within its duration', source: `Lease kube-node-lease/${node}` },
            ],
            cause: 'The node is alive and did not ask itself: another machine has its name.',
            fix: [
              {
                run: `rollcall csr deny ${shellWord(name)} --reason 'the node is alive'`,
                purpose: 'unless you know that the node is being set up anew',
              },
            ],
            verify: runDoctor,
          }
        })
      },
    }),
    view({
      requiredArtifacts: ['nodes'],
      audit({ nodes }) {
        const machines = Map.groupBy(nodes, ({ status }) => status?.nodeInfo?.machineID ?? '')
        return [...machines].flatMap(([machine, of]) => {
          if (machine === '' || of.length < 2) return []
          return of.map(({ metadata: { name } }) => ({
            object: `Node ${name}`,
            node: name,
            severity: 'warning' as const,
            evidence: [{ value: `machineID ${machine}`, source: `Node ${name} status.nodeInfo` }],
            cause: `Nodes ${of.map(({ metadata }) => metadata.name).join(' and ')} report one machine id: one was cloned from the other.`,
            fix: [
              {
                run: 'rm /etc/machine-id && systemd-machine-id-setup',
                purpose: 'on the clone; also make sure that its pki folder is its own',
              },
            ],
            verify: runDoctor,
          }))
        })
      },
    }),
  ],
}
