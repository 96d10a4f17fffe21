import type { Container, StaticPod } from '../pod.ts'
import { volumeFolder } from '../state/pod-folder.ts'

/** One volume in the place where a container wants it. */
export interface ProcessMount {
  source: string
  target: string
  /** `empty`: an emptyDir, which any user of the pod may write. */
  access: 'rw' | 'ro' | 'empty'
}

/** What has to be mounted for a container: nothing for a hostPath that it sees where it is, as processes see the host. */
export function mountsOf(
  pod: StaticPod,
  { volumeMounts = [] }: Container,
  volumesRoot: string,
): ProcessMount[] {
  return volumeMounts.flatMap(({ name, mountPath, subPath, readOnly = false }) => {
    const volume = pod.spec.volumes?.find(volume => volume.name === name)
    if (!volume || volume.downwardAPI) return []
    const root = volume.hostPath?.path ?? volumeFolder(volumesRoot, pod, name)
    const source = trimmed(subPath ? `${root}/${subPath}` : root)
    const target = trimmed(mountPath)
    if (source === target && !readOnly) return []
    const access = readOnly ? 'ro' : volume.hostPath ? 'rw' : 'empty'
    return [{ source, target, access }]
  })
}

/** Without doubled slashes and one at the end. */
export function trimmed(path: string): string {
  return path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1')
}

/**
 * Mounts for the process alone, then becomes it. `unshare` keeps the mounts from everybody else; the programs are
 * util-linux and coreutils, essential in Debian.
 */
const mountScript = `
while [ "$1" != -- ]; do
  [ "$3" != empty ] || /usr/bin/chmod 0777 "$1" || exit 126
  /usr/bin/mount --bind "$1" "$2" || exit 126
  [ "$3" != ro ] || /usr/bin/mount -o remount,bind,ro "$2" || exit 126
  shift 3
done
shift
exec "$@"
`

/** What to put before a command line so that it sees these mounts; needs root. */
export function mountPrefix(mounts: readonly ProcessMount[]): string[] {
  if (mounts.length === 0) return []
  const words = mounts.flatMap(({ source, target, access }) => [source, target, access])
  const shell = ['/bin/sh', '-c', mountScript, 'rollcall-mounts', ...words, '--']
  return ['/usr/bin/unshare', '--mount', '--propagation', 'private', '--', ...shell]
}
