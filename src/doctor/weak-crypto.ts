/** Whether current TLS libraries refuse a key of this type (`RSA-1024`, `P-224`, …). */
export function isWeakKey(keyType: string): boolean {
  const rsa = /^RSA-(\d+)$/.exec(keyType)
  return (rsa !== null && Number(rsa[1]) < 2048) || keyType === 'P-224' || keyType === 'DSA'
}

/** Whether a signature algorithm (Go's or our own name for it) rests on SHA-1 or MD5. */
export function isWeakSignature(algorithm: string): boolean {
  return /sha-?1(?!\d)|md5/i.test(algorithm)
}
