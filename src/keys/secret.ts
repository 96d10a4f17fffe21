import { inspect } from 'node:util'

/**
 * A key, token or PIN that logs, errors and JSON cannot show: every way to print it gives `[secret]`. Only `reveal()`
 * gives the value, and only where it is used (a header, a signature, a 0600 file).
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  reveal(): string {
    return this.#value
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}
