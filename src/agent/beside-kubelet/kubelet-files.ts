import { posix } from 'node:path'
import { systemCode } from '../../errors.ts'
import type { ClusterEndpoint } from '../../hold/node-kubeconfig.ts'
import type { Secret } from '../../keys/secret.ts'
import { encodeKubeconfig, type KubeconfigFields, type Reference } from '../../kube/encode-kubeconfig.ts'
import type { Disk, FileStat } from '../../ports.ts'

/**
 * Replaces a file in one step, whole and on the disk, with owner and mode of the one that is there; `mode` where there is
 * none. Resolves with false when it holds this text already.
 */
export async function replaceFile(disk: Disk, path: string, text: string, mode: number): Promise<boolean> {
  const before = await statOf(disk, path)
  if (before && new TextDecoder().decode(await disk.read(path)) === text) return false
  const directory = posix.dirname(path)
  const next = `${path}.new`
  await disk.makeDirectory(directory, 0o755)
  await disk.remove(next)
  // A symlink is open to all and says nothing of what it led to: a file takes its place.
  const file = before?.kind === 'file' ? before : undefined
  // A file open to all must not stay so where a secret goes into it: never more than it is meant for.
  await disk.write(next, text, {
    mode: file ? file.mode & (mode | 0o040) : mode,
    sync: true,
    exclusive: true,
  })
  if (file && disk.changeOwner) await disk.changeOwner(next, file.owner, file.group ?? file.owner)
  await disk.rename(next, path)
  await disk.syncDirectory(directory)
  return true
}

async function statOf(disk: Disk, path: string): Promise<FileStat | undefined> {
  try {
    return await disk.stat(path)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** What the kubelet's kubeconfig says of its user. */
export type KubeletUser =
  | { exec: { command: string; args: readonly string[] } }
  | { tokenFile: string; server: string; certificateAuthorityFile: string }

/** The kubeconfig that leads a kubelet to the agent; `authority` is the API's CA as a file, which client-go reads again. */
export function kubeletKubeconfig(
  { connection }: ClusterEndpoint,
  authority: Reference | undefined,
  user: KubeletUser,
): Secret {
  if ('tokenFile' in user) {
    const { server, certificateAuthorityFile: file, tokenFile } = user
    return encodeKubeconfig({ server, certificateAuthority: { file }, user: { tokenFile } })
  }
  const { server, insecureSkipTlsVerify, tlsServerName, proxyUrl } = connection
  const fields: KubeconfigFields = {
    server,
    ...(authority && { certificateAuthority: authority }),
    ...(insecureSkipTlsVerify && { insecureSkipTlsVerify }),
    ...(tlsServerName && { tlsServerName }),
    ...(proxyUrl && { proxyUrl }),
    user: { exec: execStanza(user.exec) },
  }
  return encodeKubeconfig(fields)
}

function execStanza({ command, args }: { command: string; args: readonly string[] }) {
  return {
    apiVersion: 'client.authentication.k8s.io/v1',
    args: [...args],
    command,
    env: null,
    installHint:
      'rollcall runs beside this kubelet and holds its certificate: systemctl status rollcall-agent',
    // The plugin knows its socket; a CA bundle in its environment would only be one more limit (128 KiB).
    provideClusterInfo: false,
    interactiveMode: 'Never',
  }
}

/** A file that somebody else wrote is kept under another name, once. Resolves with that name. */
export async function keepForeign(disk: Disk, path: string): Promise<string | undefined> {
  const before = await statOf(disk, path)
  if (!before) return undefined
  const text = new TextDecoder().decode(await disk.read(path))
  if (isOurs(text)) return undefined
  const kept = `${path}.before-rollcall`
  try {
    await disk.write(kept, text, { mode: 0o600, exclusive: true, sync: true })
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return undefined
    throw error
  }
  return kept
}

/** Written by an agent: the words only it writes. */
function isOurs(text: string): boolean {
  return text.includes('rollcall runs beside this kubelet') || /tokenFile: .*\/proxy-token$/m.test(text)
}
