/** An API with a few small resources and an Access that lets everybody do everything, for the tests of the core. */
import { decodeJsonLines } from './json-lines.ts'
