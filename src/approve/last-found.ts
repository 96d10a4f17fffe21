/**
 * `find`, whose last answer is kept: the rules of one judgement ask about the same facts, one after the other. `of` must
 * never be changed.
 */
export function lastFound<F extends object, T>(find: (of: F) => T): (of: F) => T {
  let last: { of: F; answer: T } | undefined
  return of => {
    if (last?.of !== of) last = { of, answer: find(of) }
    return last.answer
  }
}
