import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canaryRules } from '../../controller/rbac.ts'
import { createClient } from '../../kube/client.ts'
import { impersonating } from '../../kube/impersonating-transport.ts'
import { signerNames } from '../../kube/types.ts'
import { canaryGroup, canaryUser } from '../../survey/canary/run-canary.ts'
import { calm, onCluster } from '../../testing/controlled-cluster.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { signingAuthority } from '../../testing/signing-authority.ts'
import { OtherSigner } from './other-signer.ts'
import { parseRolloverFile } from './rollover-file.ts'

const file = parseRolloverFile(
  `directory: /d
authorities: {client: {certificate: /ca.crt, key: /ca.key}}
apiServers: [{name: a, address: 'a:6443'}]
hooks: {signWith: wait}`,
  'r.yaml',
)

test(
  'by which CA somebody else signs is seen by what a canary is given: the old one, the new one, a stranger, nobody',
  onCluster(async cluster => {
    const { clock, ca, controllerClient: client } = cluster
    await cluster.grant('canary', canaryRules)
    const asCanary = createClient(impersonating(await cluster.transportAs('canary'), canaryUser, canaryGroup))
    const next = await signingAuthority(clock.now(), 12)
    const stranger = await signingAuthority(clock.now(), 13)
    const cas = {
      generations: () => [1, 2],
      authority: (_: string, generation: number) => (generation === 1 ? ca : next),
    }
    const signer = new OtherSigner({ cas, client, asCanary, file, clock, random: seededRandom(5) })

    async function signs(): Promise<number | undefined> {
      await clock.advance(10_000) // what was seen before counts no longer
      const asked = signer.signs()
      for (let second = 0; second < 12; second++) await clock.advance(1000)
      return asked
    }
    for (const [by, expected] of [
      [ca, 1],
      [next, 2],
      [stranger, 0],
      [undefined, undefined],
    ] as const) {
      const signers = by ? { [signerNames.kubeletClient]: { certificate: by.pem, signer: by.signer } } : {}
      const controllers = await cluster.start({ signers })
      assert.equal(await signs(), expected)
      await controllers.stop()
      await calm()
    }
    assert.equal(await signs(), 0, 'nobody approves: nothing is known')
  }),
)
