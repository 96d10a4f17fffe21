import { spawn } from 'node:child_process'

export interface OpensslResult {
  code: number | null
  /** stdout and stderr. */
  output: string
}

/** Runs `openssl` to its end; stdin is `input`, or empty. */
export function openssl(args: readonly string[], input = ''): Promise<OpensslResult> {
  const child = spawn('openssl', args, { stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  const take = (text: string) => {
    output += text
  }
  child.stdout.setEncoding('utf8').on('data', take)
  child.stderr.setEncoding('utf8').on('data', take)
  child.stdin.on('error', () => {}) // it may end without reading its input
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve({ code, output }))
  })
}

/** `openssl verify` of the first certificate in `pem` against the CA in a file, for a client or a server. */
export function opensslVerify(
  pem: string,
  caFile: string,
  purpose: 'sslclient' | 'sslserver',
): Promise<OpensslResult> {
  return openssl(['verify', '-x509_strict', '-purpose', purpose, '-CAfile', caFile], pem)
}
