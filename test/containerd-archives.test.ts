import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { noContainerd, startContainerd } from './support/containerd.ts'
import { eventually } from './support/eventually.ts'
import { busyboxImage } from './support/oci-image.ts'
import { temporaryFolder } from './support/rollcall-process.ts'
import { inContainerd, stateOf, staticPodMachine } from './support/static-pods.ts'

test('images come from archives on the disk where no registry is reached; attack: not from what others can write', {
  skip: noContainerd,
}, async () => {
  const folder = temporaryFolder()
  const archives = join(folder.path, 'images')
  const containerd = await startContainerd()
  const machine = staticPodMachine(inContainerd(containerd, { imageArchives: archives }))
  const image = (name: string) => `localhost/rollcall-test/${name}:1`
  const pod = (name: string) =>
    machine.write({
      name,
      script: machine.service(name),
      container: { image: image(name), imagePullPolicy: 'Never' },
    })
  const archive = (name: string, mode = 0o644) => {
    writeFileSync(join(archives, `${name}.tar`), busyboxImage(image(name)))
    chmodSync(join(archives, `${name}.tar`), mode)
  }
  try {
    mkdirSync(archives)
    archive('first')
    archive('open', 0o666)
    writeFileSync(join(archives, 'half.tar'), 'no archive')
    for (const name of ['first', 'open', 'second']) pod(name)
    const { pods } = machine.startAgent()
    await eventually('it runs', () => machine.lines('first').length === 1)
    archive('second')
    await eventually('one that comes later runs', () => machine.lines('second').length === 1)
    assert.match(JSON.stringify(stateOf(pods, 'open')), /ErrImageNeverPull/)
    const said = machine.log.lines.filter(line => line.includes('an archive of images is not used'))
    assert.equal(said.length, 2, 'once each')
  } finally {
    await machine.close()
    await containerd.close()
    folder.remove()
  }
})
