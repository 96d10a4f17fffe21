import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { systemDisk } from '../../host/disk.ts'
import { withIdentity } from '../manifest/identity.ts'
import type { HostPathType } from '../pod.ts'
import { prepareHostPaths } from './host-path.ts'

test('each type of hostPath is checked or created as the kubelet does', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-hostpath-'))
  const server = createServer()
  const at = (name: string) => join(folder, name)
  const prepare = async (name: string, type: HostPathType) => {
    const volumes = [{ name: 'v', hostPath: { path: name.startsWith('/') ? name : at(name), type } }]
    const spec = { containers: [{ name: 'c', image: 'host' }], volumes }
    const pod = withIdentity(
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec },
      { nodeName: 'a', path: '/m/web.yaml', seen: 0 },
    )
    try {
      await prepareHostPaths(pod, systemDisk)
    } catch (error) {
      assert.ok(hasCode(error, 'POD_VOLUME_NOT_READY'))
      return /^Volume v: hostPath \S+ (.*), and its type is \w+\.$/.exec(error.message)?.[1]
    }
    return 'ready'
  }
  try {
    writeFileSync(at('file'), '')
    await new Promise<void>(resolve => server.listen(at('socket'), resolve))
    symlinkSync('file', at('link'))
    symlinkSync('loop', at('loop'))
    const cases: [name: string, type: HostPathType, expected: string][] = [
      ['none', '', 'ready'],
      ['none', 'Directory', 'is not there'],
      ['none', 'File', 'is not there'],
      ['none', 'Socket', 'is not there'],
      ['loop', 'File', 'is not there'],
      ['file', 'File', 'ready'],
      ['link', 'File', 'ready'],
      ['file', 'Directory', 'is a file'],
      ['file', 'DirectoryOrCreate', 'is a file'],
      ['socket', 'Socket', 'ready'],
      ['file', 'Socket', 'is a file'],
      ['/dev/null', 'CharDevice', 'ready'],
      ['/dev/null', 'BlockDevice', 'is a character device'],
      ['new-folder', 'DirectoryOrCreate', 'ready'],
      ['new-file', 'FileOrCreate', 'ready'],
      ['no/such/file', 'FileOrCreate', 'cannot be used (ENOENT)'],
      ['file/below', 'FileOrCreate', 'cannot be used (ENOTDIR)'],
    ]
    for (const [name, type, expected] of cases)
      assert.equal(await prepare(name, type), expected, `${name} ${type}`)
    assert.deepEqual(
      [statSync(at('new-folder')).isDirectory(), statSync(at('new-file')).isFile()],
      [true, true],
    )
  } finally {
    await new Promise(resolve => server.close(resolve))
    rmSync(folder, { recursive: true })
  }
})
