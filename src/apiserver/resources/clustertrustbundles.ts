/** certificates.k8s.io/v1beta1 ClusterTrustBundle (T-1): trust anchors, of a signer or of nobody in particular. */
import { RollcallError } from '../../errors.ts'
import { type KubeObject, resources } from '../../kube/types.ts'
import { type Certificate, parseCertificate } from '../../x509/certificate.ts'
import { decodePem } from '../../x509/pem.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { nameColumn, textColumn } from './columns.ts'
import { dns1123Subdomain } from './names.ts'
import type { StoredResource } from './resource.ts'
import { signerNameErrors } from './signer-name.ts'
import { storedDefaults } from './stored-defaults.ts'

export interface ClusterTrustBundle extends KubeObject {
  spec?: { signerName?: string; trustBundle?: string }
}

/** Bytes. */
const maximumBundle = 1024 * 1024

/** What metadata.name may be: with a signer `SIGNER:NAME`, its slash as a colon, without one no colon at all. */
function nameComplaints(name: string, signerName: string): string[] {
  if (signerName === '') {
    if (name.includes(':')) return ['ClusterTrustBundle without signer name must not have ":" in its name']
    return dns1123Subdomain(name)
  }
  const prefix = `${signerName.replaceAll('/', ':')}:`
  if (!name.startsWith(prefix))
    return [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`]
  return dns1123Subdomain(name.slice(prefix.length))
}

function readCertificate(der: Uint8Array): Certificate | undefined {
  try {
    return parseCertificate(der)
  } catch (error) {
    if (error instanceof RollcallError) return undefined
    throw error
  }
}

type Block = ReturnType<typeof decodePem>[number]

function anchorComplaint({ label, headers, bytes }: Block): string | undefined {
  if (label !== 'CERTIFICATE') return `has bad block type: ${label}`
  if (headers) return 'has PEM block headers'
  const certificate = readCertificate(bytes)
  if (!certificate) return 'does not parse as X.509'
  return certificate.basicConstraints?.ca ? undefined : 'does not have the CA bit set'
}

function bundleErrors(bundle: string): FieldError[] {
  const field = 'spec.trustBundle'
  if (Buffer.byteLength(bundle) > maximumBundle) return [fieldError.tooLong(field, maximumBundle)]
  const blocks = decodePem(bundle)
  const invalid = (text: string) => fieldError.invalid(field, '<value omitted>', text)
  const bad = blocks.flatMap((block, index) => {
    const complaint = anchorComplaint(block)
    return complaint ? [invalid(`entry ${index} ${complaint}`)] : []
  })
  if (bad.length > 0) return bad
  if (blocks.length === 0) return [invalid('at least one trust anchor must be provided')]
  const entries = Map.groupBy(blocks.keys(), index =>
    Buffer.from(blocks[index]?.bytes ?? []).toString('base64'),
  )
  return [...entries.values()].flatMap(same =>
    same.length > 1 ? [invalid(`duplicate trust anchor (indices [${same.join(' ')}])`)] : [],
  )
}

function headErrors({ metadata, spec = {} }: ClusterTrustBundle): FieldError[] {
  const { signerName = '' } = spec
  return [
    ...nameComplaints(metadata.name, signerName).map(text =>
      fieldError.invalid('metadata.name', metadata.name, text),
    ),
    ...(signerName === '' ? [] : signerNameErrors('spec.signerName', signerName)),
  ]
}

export const clusterTrustBundles: StoredResource<ClusterTrustBundle> = {
  ...storedDefaults,
  ...resources.clusterTrustBundles,
  singular: 'clustertrustbundle',
  columns: [
    nameColumn,
    textColumn(
      'SignerName',
      'signerName indicates the associated signer, if any.',
      ({ spec }) => spec?.signerName || '<none>',
    ),
  ],
  // Which names are right depends on the signer, so `validate` looks at them.
  validateName: () => [],
  validate: bundle => [...headErrors(bundle), ...bundleErrors(bundle.spec?.trustBundle ?? '')],
  validateUpdate(next, previous) {
    const [after = '', before = ''] = [next.spec?.signerName, previous.spec?.signerName]
    return [
      ...headErrors(next),
      // What is there already was right once.
      ...(next.spec?.trustBundle === previous.spec?.trustBundle
        ? []
        : bundleErrors(next.spec?.trustBundle ?? '')),
      ...(after === before ? [] : [fieldError.invalid('spec.signerName', after, 'field is immutable')]),
    ]
  },
  selectableFields: [{ path: 'spec.signerName', value: ({ spec }) => spec?.signerName ?? '' }],
  allowUnconditionalUpdate: false,
}
