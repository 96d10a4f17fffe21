/** Commands that several findings tell to paste: plain kubectl, openssl and systemctl where those will do. */
import { type Command, shellWord } from '../survey/explanation.ts'

export const showRequest = (name: string): Command => ({
  run: `rollcall csr explain ${shellWord(name)}`,
  purpose: 'says who waits for whom with it',
})

export const approveRequest = (name: string): Command => ({
  run: `rollcall csr approve ${shellWord(name)}`,
  purpose: 'approves it, after showing its names beside its Node',
})

export const deleteRequest = (name: string): Command => ({
  run: `kubectl delete csr ${shellWord(name)}`,
  purpose: 'removes it, once the cause is mended; the node asks again',
})

export const watchRequests: Command = {
  run: 'rollcall csr ls',
  purpose: 'shows whether the next request is issued',
}

export const createToken: Command = {
  run: 'rollcall token create --ttl 24h --print-kubeconfig > bootstrap-kubelet.conf',
  purpose: 'makes a bootstrap kubeconfig; copy it to /etc/kubernetes/bootstrap-kubelet.conf on the node',
}

export const listTokens: Command = { run: 'rollcall token ls', purpose: 'shows what each token is good for' }

export const showNode = (name: string): Command => ({
  run: `rollcall nodes ${shellWord(name)}`,
  purpose: 'shows the node with its certificates',
})

export const restartKubelet: Command = { run: 'systemctl restart kubelet', purpose: 'on the node' }

export const runDoctor: Command = { run: 'rollcall doctor', purpose: 'finds nothing any more' }

export const probeAgain: Command = { run: 'rollcall doctor --probe', purpose: 'finds nothing any more' }

export const showServed = (host: string, port: number): Command => ({
  run: `rollcall certs show ${host.includes(':') ? `[${host}]` : host}:${port}`,
  purpose: 'shows what is served there',
})
