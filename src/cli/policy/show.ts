import type { Command } from 'commander'
import { stringify } from 'yaml'
import { policyOf } from '../../approve/policy-presets.ts'
import type { CertificatePolicy } from '../../kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies, policyInForce } from '../../kube/rollcall/certificate-policy.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from '../output.ts'
import { printable } from '../printable.ts'
import { alignColumns } from '../table.ts'
import { withApi } from '../with-api.ts'

export function register(policy: Command, io: CommandIo): void {
  const command = policy
    .command('show')
    .argument('[name]', 'which policy', policyInForce)
    .description(
      'show a CertificatePolicy with its preset filled in, what became of it, and what a shadow found',
    )
  addOutputOption(addConnectionOptions(command)).action(
    async (name: string, flags: ConnectionFlags & { output: OutputFormat }) => {
      const found = await withApi(io, flags, ({ client }) =>
        client.get<CertificatePolicy>(certificatePolicies, { name }),
      )
      print(io, flags.output, { text: () => format(found), value: found })
    },
  )
}

function format({ metadata, spec, status = {} }: CertificatePolicy): string {
  const { conditions = [], shadow } = status
  const lines = conditions.map(({ type, status: value, reason, message }) => [
    type,
    `${value} (${reason}): ${message}`,
  ])
  const differences = shadow?.latest?.map(({ request, node = '', enforced, shadow: other }) => [
    '',
    `${request} ${node}: ${enforced}, it would be ${other}`,
  ])
  const head = [
    ['policy', metadata.name],
    ...lines,
    ...(shadow ? [['shadow', `${shadow.different} of ${shadow.compared} judged otherwise`]] : []),
    ...(differences ?? []),
  ]
  const body = stringify(policyOf(spec ?? {}), { lineWidth: 0 })
  return `${alignColumns(head.map(line => line.map(printable)))}\n${body}`
}
