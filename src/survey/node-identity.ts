import { commonName, type Name } from '../x509/name.ts'

/** How a node is called as a user: `system:node:NAME`. */
const PREFIX = 'system:node:'

/** The node a user name or common name stands for, or undefined for everybody else. */
export function nodeOfUser(username: string | undefined): string | undefined {
  return username?.startsWith(PREFIX) && username.length > PREFIX.length
    ? username.slice(PREFIX.length)
    : undefined
}

/** The node a certificate or request is for, by its common name. */
export function nodeOfSubject(subject: Name): string | undefined {
  return nodeOfUser(commonName(subject))
}
