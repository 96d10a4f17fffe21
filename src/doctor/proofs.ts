/** By which test it is known that a diagnosis finds its fault, and nothing louder: docs/reference/doctor tells it. */

/** What cannot be made here: what a cluster that has it would tell was written down. */
export const recorded: Readonly<Record<string, string>> = {
  E16: 'what a kubelet logs of the connections it keeps',
  G09: 'a kube-apiserver before 1.26.2',
  I14: 'an APIService; the embedded API has none',
  I15: 'a webhook; the embedded API has none',
}

/** Made against the embedded API in the process of the test; all others are made in a real `rollcall up`. */
export const madeInProcess: readonly string[] = ['I06', 'I16']

/** For the list of all checks. */
export function proofOf(id: string): string {
  const what = recorded[id]
  if (what !== undefined) return `recorded: ${what}`
  return madeInProcess.includes(id) ? 'in process' : '`up`'
}
