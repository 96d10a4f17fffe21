import { parse } from 'yaml'
import { systemCode } from '../../errors.ts'
import { isRecord } from '../../kube/json.ts'
import type { Gathered } from '../artifacts/artifacts.ts'
import type { KubeletConfigFacts } from '../artifacts/node-artifacts.ts'
import type { ReadOnlyDisk } from './cert-directory.ts'
import { certificatesOnly } from './trust.ts'

/** What the kubelet is configured to do with certificates. Whoever runs Rollcall's agent has no such file. */
export async function readKubeletConfig(
  path: string,
  disk: ReadOnlyDisk,
): Promise<Gathered<KubeletConfigFacts>> {
  let text: string
  try {
    text = new TextDecoder().decode(await disk.read(path))
  } catch (error) {
    const code = systemCode(error)
    if (code === undefined) throw error
    if (code === 'ENOENT') return { status: 'absent', reason: `there is no ${path}` }
    return { status: code === 'EACCES' ? 'forbidden' : 'failed', reason: `${path}: ${code}` }
  }
  const config = mapping(text)
  if (config?.kind !== 'KubeletConfiguration')
    return { status: 'failed', reason: `${path} is no KubeletConfiguration` }
  const { rotateCertificates, serverTLSBootstrap, tlsCertFile } = config
  const clientCaFile = await readClientCa(config, disk)
  const value: KubeletConfigFacts = {
    path,
    // K-2: false is the default of the API; kubeadm writes true.
    rotateCertificates: rotateCertificates === true,
    serverTLSBootstrap: serverTLSBootstrap === true,
    ...(typeof tlsCertFile === 'string' && tlsCertFile !== '' && { tlsCertFile }),
    ...(clientCaFile && { clientCaFile }),
  }
  return { status: 'ok', value }
}

async function readClientCa(
  { authentication }: Record<string, unknown>,
  disk: ReadOnlyDisk,
): Promise<KubeletConfigFacts['clientCaFile']> {
  const x509 = isRecord(authentication) ? authentication.x509 : undefined
  const path = isRecord(x509) ? x509.clientCAFile : undefined
  if (typeof path !== 'string' || path === '') return undefined
  try {
    return { path, certificates: certificatesOnly(new TextDecoder().decode(await disk.read(path))) }
  } catch (error) {
    if (systemCode(error) === undefined) throw error
    return { path }
  }
}

function mapping(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = parse(text, { prettyErrors: false })
    return isRecord(value) ? value : undefined
  } catch {
    return undefined // The file is then said to be no KubeletConfiguration.
  }
}
