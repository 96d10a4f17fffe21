import type { Command } from 'commander'
import { listAll } from '../../kube/client.ts'
import { type TrustBundleObject, trustBundle } from '../../kube/rollcall/trust-bundle.ts'
import { type TrustConsumerObject, trustConsumer } from '../../kube/rollcall/trust-consumer.ts'
import { decodeBundle } from '../../trust/bundle-text.ts'
import { parseCertificate } from '../../x509/certificate.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { formatName } from '../../x509/name.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from '../output.ts'
import { printable } from '../printable.ts'
import { formatTable } from '../table.ts'
import { withApi } from '../with-api.ts'
import { register as registerCeremony } from './ceremony.ts'
import { register as registerProbe } from './probe.ts'
import { register as registerPublish } from './publish.ts'
import { register as registerRoots } from './roots.ts'

type Flags = ConnectionFlags & { output: OutputFormat }

export function register(program: Command, io: CommandIo): void {
  const trust = program.command('trust').description('see who trusts which CA, and how that is known')
  const ls = trust
    .command('ls')
    .alias('list')
    .description('list the consumers of the CAs, and how far each has proven')
  addOutputOption(addConnectionOptions(ls)).action(async (flags: Flags) => {
    const { items } = await withApi(io, flags, ({ client }) =>
      listAll<TrustConsumerObject>(client, trustConsumer.ref),
    )
    print(io, flags.output, {
      text: () => formatTable(columns, items),
      value: { apiVersion: 'v1', kind: 'List', items },
    })
  })
  const show = trust
    .command('show')
    .argument('<bundle>', 'as `ROLE-GENERATION`')
    .description('show a signed bundle and its CAs')
  addOutputOption(addConnectionOptions(show)).action(async (name: string, flags: Flags) => {
    const bundle = await withApi(io, flags, ({ client }) =>
      client.get<TrustBundleObject>(trustBundle.ref, { name }),
    )
    print(io, flags.output, { text: () => bundleText(bundle), value: bundle })
  })
  for (const subcommand of [registerProbe, registerRoots, registerCeremony, registerPublish])
    subcommand(trust, io)
}

const columns = [
  { title: 'consumer', cell: ({ spec }: TrustConsumerObject) => spec.identity },
  { title: 'kind', cell: ({ spec }: TrustConsumerObject) => spec.consumerKind },
  { title: 'state', cell: ({ status }: TrustConsumerObject) => status?.state ?? '' },
  {
    title: 'proven',
    cell: ({ status }: TrustConsumerObject) =>
      (status?.proofs ?? [])
        .map(({ role, level, generation, by }) => `${role} L${level} bundle ${generation} by ${by}`)
        .join(', '),
  },
]

function bundleText({ metadata, spec }: TrustBundleObject): string {
  const content = decodeBundle(spec.content)
  if (!content) return `${printable(metadata.name)}: its content is no bundle; nobody takes it\n`
  const anchors = content.anchors.map(der => {
    const { subject, notAfter } = parseCertificate(der)
    return `  ${formatName(subject)} until ${new Date(notAfter).toISOString()} sha256 ${sha256Hex(der).slice(0, 16)}`
  })
  const lines = [
    `${metadata.name}: generation ${content.generation} of ${content.role}, ${spec.purpose}, for cluster ${content.cluster}`,
    ...anchors,
    ...spec.signatures.map(({ keyId }) => `  signed by trust root ${keyId.slice(0, 16)}`),
  ]
  return `${lines.map(printable).join('\n')}\n`
}
