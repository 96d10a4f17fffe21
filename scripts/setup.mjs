// Brings what `npm start` and `npm test` need into a fresh clone. Plain JavaScript that also runs on Node.js 20.
// `--build` also installs the development packages, `--tests` those and, as root on Debian, the real programs the tests drive.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { debianPackages, oldKubectlFolder } from './debian-packages.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const forTests = process.argv.includes('--tests')
const wantsAll = forTests || process.argv.includes('--build')
const stamp = join(root, 'node_modules', '.rollcall-setup')

const lock = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(process.arch)
  .digest('hex')

/** From least to most: each contains those before it. */
const extents = ['nothing', 'production', 'build', 'tests']
const wanted = forTests ? 'tests' : wantsAll ? 'build' : 'production'

/** What an earlier set-up installed for this very lock file. */
function installed() {
  if (!existsSync(stamp)) return 'nothing'
  const [hash, extent] = readFileSync(stamp, 'utf8').trim().split(' ')
  return hash === lock ? extent : 'nothing'
}

function run(command, args, options = {}) {
  // Output goes to stderr: stdout belongs to the program that is started afterwards.
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], ...options })
  if (result.error) throw result.error
  return result.status === 0
}

function installNpmPackages() {
  if (extents.indexOf(installed()) >= extents.indexOf(wanted)) return
  console.error(`rollcall: installing npm packages${wantsAll ? ' for development' : ''} (once) …`)
  // No script of a package runs; the one native package, pkcs11js, is compiled only where the tests need it.
  const extent = ['--ignore-scripts', ...(wantsAll ? [] : ['--omit=dev'])]
  // npm warns that undici wants a newer Node than the one npm runs on; Rollcall runs on the Node 24 it brings itself.
  if (!run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...extent])) {
    console.error('rollcall: "npm ci" failed; see its message above. Is the npm registry reachable?')
    process.exit(1)
  }
  if (forTests && !run('npm', ['rebuild', '--loglevel=error', 'pkcs11js']))
    console.error(
      'rollcall: pkcs11js could not be compiled (it needs g++, make, python3); tests of PKCS#11 will say so.',
    )
  writeFileSync(stamp, `${lock} ${wanted}\n`)
}

/** Real counterparts of the tests. Without root they are left to the user; tests that miss one say so by name. */
function installDebianPackages() {
  const isRoot = process.getuid?.() === 0
  const hasApt = spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0
  const missing = debianPackages.filter(
    entry =>
      spawnSync('sh', ['-c', entry.file ? `ls ${entry.file}` : `command -v ${entry.program}`]).status !== 0,
  )
  const needsOldKubectl = !existsSync(join(root, oldKubectlFolder, 'usr/bin/kubectl'))
  if (missing.length === 0 && !needsOldKubectl) return
  if (!isRoot || !hasApt) {
    const names = [...missing.map(entry => entry.package), ...(needsOldKubectl ? ['kubernetes-client'] : [])]
    console.error(
      `rollcall: tests that need ${names.join(', ')} will not run (install them, or run as root on Debian).`,
    )
    return
  }
  console.error('rollcall: installing Debian packages for the tests (once) …')
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  run('apt-get', ['update', '-qq'], { env: environment })
  if (missing.length > 0) {
    const packages = missing.map(entry => entry.package)
    if (
      !run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], { env: environment })
    ) {
      console.error(
        `rollcall: apt-get could not install ${packages.join(', ')}; the tests that need them will say so.`,
      )
    }
    endServices(missing.flatMap(entry => entry.service ?? []))
  }
  if (needsOldKubectl) unpackOldKubectl()
}

/** The tests start their own; where no systemd runs there is nothing to end. */
function endServices(services) {
  if (services.length === 0 || !existsSync('/run/systemd/system')) return
  run('systemctl', ['disable', '--now', '--quiet', ...services])
}

/** kubectl 1.20 collides with an installed kubectl, so it is unpacked into an ignored folder. */
function unpackOldKubectl() {
  const folder = join(root, oldKubectlFolder)
  mkdirSync(folder, { recursive: true })
  const script =
    'apt-get download -qq kubernetes-client && dpkg-deb -x kubernetes-client_*.deb . && rm kubernetes-client_*.deb'
  if (!run('sh', ['-c', script], { cwd: folder })) {
    console.error('rollcall: kubectl 1.20 could not be unpacked; the tests that need it will say so.')
  }
}

installNpmPackages()
if (forTests) installDebianPackages()
