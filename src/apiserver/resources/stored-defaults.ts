/** What most stored resources have in common; a resource's file states what differs. */
import { dns1123Subdomain } from './names.ts'
import { allVerbs } from './resource.ts'

export const storedDefaults = {
  stored: true,
  shortNames: [],
  verbs: allVerbs,
  prepareForCreate() {},
  prepareForUpdate() {},
  validate: () => [],
  validateUpdate: () => [],
  validateName: dns1123Subdomain,
  subresources: {},
  hasGeneration: false,
  allowCreateOnUpdate: false,
  allowUnconditionalUpdate: true,
} as const
