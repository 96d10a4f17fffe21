import htm from 'htm'
import { h, type VNode } from 'preact'

/** What a component gives back. Whatever is put between the tags is text, never HTML. */
export type View = VNode | null

type Html = (strings: TemplateStringsArray, ...values: unknown[]) => VNode

// The types of htm describe its CommonJS form, whose default export the module itself is.
export const html = (htm as unknown as { bind(create: typeof h): Html }).bind(h)
