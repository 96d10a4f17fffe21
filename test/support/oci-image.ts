import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A file or a folder of a tar. */
interface Entry {
  name: string
  contents?: Buffer
  mode?: number
  link?: string
}

const block = 512

/** A ustar header; `type` 0 file, 2 symlink, 5 folder. */
function header({ name, contents, mode, link }: Entry): Buffer {
  const bytes = Buffer.alloc(block)
  const isFolder = name.endsWith('/')
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`
  const put = (text: string, at: number) => bytes.write(text, at, 'latin1')
  const [prefix, rest] = splitName(name)
  put(rest, 0)
  put(prefix, 345)
  put(octal(mode ?? (isFolder ? 0o755 : 0o644), 8), 100)
  put(octal(0, 8), 108)
  put(octal(0, 8), 116)
  put(octal(contents?.length ?? 0, 12), 124)
  put(octal(0, 12), 136)
  put('        ', 148)
  put(link !== undefined ? '2' : isFolder ? '5' : '0', 156)
  put(link ?? '', 157)
  put('ustar\x0000', 257)
  put(
    `${octal(
      bytes.reduce((sum, byte) => sum + byte, 0),
      7,
    )} `,
    148,
  )
  return bytes
}

/** Names of more than 100 characters have their first folders in a field of their own. */
function splitName(name: string): [prefix: string, rest: string] {
  if (name.length <= 100) return ['', name]
  const at = name.indexOf('/', name.length - 101)
  if (at < 0 || at > 155) throw new RangeError(`the name ${name} is too long for a tar`)
  return [name.slice(0, at), name.slice(at + 1)]
}

function tar(entries: Entry[]): Buffer {
  const parts = entries.flatMap(entry => {
    const contents = entry.contents ?? Buffer.alloc(0)
    return [header(entry), contents, Buffer.alloc((block - (contents.length % block)) % block)]
  })
  return Buffer.concat([...parts, Buffer.alloc(2 * block)])
}

/** An OCI image of one layer, as a tar that `ctr images import` takes. */
function ociImage(name: string, entries: Entry[], config: object): Buffer {
  const blobs: Entry[] = []
  const add = (contents: Buffer, mediaType: string) => {
    const hash = createHash('sha256').update(contents).digest('hex')
    blobs.push({ name: `blobs/sha256/${hash}`, contents })
    return {
      mediaType: `application/vnd.oci.image.${mediaType}`,
      digest: `sha256:${hash}`,
      size: contents.length,
    }
  }
  const json = (value: object) => Buffer.from(JSON.stringify(value))
  const layer = add(tar(entries), 'layer.v1.tar')
  const imageConfig = add(
    json({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config,
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    }),
    'config.v1+json',
  )
  const manifest = add(json({ schemaVersion: 2, config: imageConfig, layers: [layer] }), 'manifest.v1+json')
  const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name }
  const index = json({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] })
  return tar([
    { name: 'oci-layout', contents: json({ imageLayoutVersion: '1.0.0' }) },
    { name: 'index.json', contents: index },
    { name: 'blobs/' },
    { name: 'blobs/sha256/' },
    ...blobs,
  ])
}

const folders = (...names: string[]): Entry[] => names.map(name => ({ name: `${name}/` }))

/** Debian's busybox-static as an image, with sh and all the others. */
export function busyboxImage(name: string): Buffer {
  const busybox = '/usr/bin/busybox'
  const applets = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).split('\n').filter(Boolean)
  const links = applets
    .filter(applet => applet !== 'busybox')
    .map(applet => ({ name: `bin/${applet}`, link: 'busybox' }))
  const program = { name: 'bin/busybox', contents: readFileSync(busybox), mode: 0o755 }
  const entries = [...folders('bin', 'etc', 'tmp', 'run', 'dev', 'proc', 'sys'), program, ...links]
  return ociImage(name, entries, { Env: ['PATH=/bin'] })
}

/** What keeps the namespaces of a pod: sleeps for ever and ends at once on TERM. */
export function pauseImage(name: string): Buffer {
  const program = { name: 'bin/busybox', contents: readFileSync('/usr/bin/busybox'), mode: 0o755 }
  const script = "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait $!; done"
  const entries = [...folders('bin'), program, { name: 'bin/sleep', link: 'busybox' }]
  return ociImage(name, entries, { Env: ['PATH=/bin'], Entrypoint: ['/bin/busybox', 'sh', '-c', script] })
}

/** Node.js and this package with what it depends on, `rollcall` and `node` in PATH. */
export function rollcallImage(name: string): Buffer {
  const libraries = execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)
  const programs = [
    file('bin/busybox', '/usr/bin/busybox'),
    file('bin/node', process.execPath),
    ...[...libraries].map(([, path = '']) => file(path.slice(1), path)),
    ...['sh', 'test', 'env', 'uname', 'dirname', 'readlink'].map(applet => ({
      name: `bin/${applet}`,
      link: 'busybox',
    })),
    { name: 'bin/rollcall', link: '/opt/rollcall/bin/rollcall' },
  ]
  const product = [
    'package.json',
    'bin/rollcall',
    ...globSync('src/**/*', { cwd: root, withFileTypes: false }),
    ...packagesBelow('package.json').flatMap(path => globSync(`${path}/**/*`, { cwd: root })),
  ]
    .filter(path => lstatSync(join(root, path)).isFile() && !path.endsWith('.test.ts'))
    .map(path => file(`opt/rollcall/${path}`, join(root, path)))
  const files = [...programs, ...product]
  const parents = new Set(files.flatMap(({ name }) => parentsOf(name)))
  const entries = [...folders('tmp', 'run', 'etc', 'dev', 'proc', 'sys', ...[...parents].sort()), ...files]
  return ociImage(name, entries, { Env: ['PATH=/bin'] })
}

const root = fileURLToPath(new URL('../..', import.meta.url))

function file(name: string, path: string): Entry {
  return { name, contents: readFileSync(path), mode: statSync(path).mode & 0o777 }
}

function parentsOf(name: string): string[] {
  const steps = name.split('/').slice(0, -1)
  return steps.map((_, n) => steps.slice(0, n + 1).join('/'))
}

/** Folders of the packages that the one of this package.json needs to run, and of theirs. */
function packagesBelow(manifest: string, known = new Set<string>()): string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, manifest), 'utf8')) as {
    dependencies?: Record<string, string>
  }
  for (const name of Object.keys(dependencies)) {
    const folder = `node_modules/${name}`
    if (known.has(folder) || !existsSync(join(root, folder))) continue
    known.add(folder)
    packagesBelow(`${folder}/package.json`, known)
  }
  return [...known]
}
