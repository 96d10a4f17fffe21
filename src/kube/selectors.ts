/** The door to both kinds of selector of a list or watch: labels (grammar in label-selector.ts) and fields. */
export {
  type FieldSelector,
  matchesFields,
  parseFieldSelector,
  requiredValue,
  requireSupportedFields,
  type SelectableFields,
} from './field-selector.ts'
export { type LabelSelector, matchesLabels, parseLabelSelector } from './label-selector.ts'
