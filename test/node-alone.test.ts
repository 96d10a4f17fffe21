import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { runRollcall, temporaryFolder } from './support/rollcall-process.ts'

suite('a machine that holds no cluster', () => {
  const folder = temporaryFolder()
  after(() => folder.remove())
  const at = (name: string) => join(folder.path, name)
  /** Nothing of this machine tells where a cluster is. */
  const alone = { HOME: folder.path, KUBECONFIG: '', KUBERNETES_SERVICE_HOST: '' }

  test('report 30: what is of the node works there; what is of the cluster says that it needs a kubeconfig', async () => {
    const files = ['--cert-dir', at('pki'), '--kubeconfig', at('kubelet.conf')]
    const repair = ['node', 'repair', ...files, '--bootstrap-kubeconfig', at('bootstrap.conf')]
    assert.equal((await runRollcall(repair, alone)).stdout, 'nothing to mend\n')
    for (const words of [
      ['renew', 'n1'],
      ['ca', 'readiness', 'client'],
    ]) {
      const { code, stderr } = await runRollcall(words, alone)
      assert.equal(code, 2)
      assert.match(stderr, /^rollcall: no kubeconfig, .*give --kubeconfig\n$/)
    }
  })
})
