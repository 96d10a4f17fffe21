import type { Command } from 'commander'
import { policyOf } from '../../approve/policy-presets.ts'
import { listAll } from '../../kube/client.ts'
import type { CertificatePolicy } from '../../kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies } from '../../kube/rollcall/certificate-policy.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from '../output.ts'
import { type Column, formatTable } from '../table.ts'
import { withApi } from '../with-api.ts'

export function register(policy: Command, io: CommandIo): void {
  const command = policy
    .command('ls')
    .alias('list')
    .description('list the CertificatePolicies, and which one is in force')
  addOutputOption(addConnectionOptions(command)).action(
    async (flags: ConnectionFlags & { output: OutputFormat }) => {
      const { items } = await withApi(io, flags, ({ client }) =>
        listAll<CertificatePolicy>(client, certificatePolicies),
      )
      print(io, flags.output, {
        text: wide =>
          items.length > 0
            ? formatTable(columns, items, wide)
            : 'there is no CertificatePolicy: serving requests stay pending, unless the controller has --policy\n',
        value: { apiVersion: 'v1', kind: 'List', items },
      })
    },
  )
}

const conditionOf = ({ status }: CertificatePolicy, type: string) =>
  status?.conditions?.find(condition => condition.type === type)

const columns: Column<CertificatePolicy>[] = [
  { title: 'name', cell: ({ metadata }) => metadata.name },
  { title: 'preset', cell: ({ spec }) => spec?.preset ?? '' },
  { title: 'evidence', cell: ({ spec }) => policyOf(spec ?? {}).evidence },
  { title: 'pools', cell: ({ spec }) => String(spec?.pools?.length ?? 0) },
  { title: 'mode', cell: ({ spec }) => spec?.mode ?? 'enforce' },
  { title: 'accepted', cell: policy => conditionOf(policy, 'Accepted')?.status ?? 'Unknown' },
  { title: 'in force', cell: policy => conditionOf(policy, 'InForce')?.reason ?? 'Unknown' },
  {
    title: 'shadow',
    cell: ({ status }) =>
      status?.shadow ? `${status.shadow.different} of ${status.shadow.compared} otherwise` : '',
  },
  { title: 'message', cell: policy => conditionOf(policy, 'Accepted')?.message ?? '', wide: true },
]
