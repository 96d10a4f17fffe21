/** Public reports of certificates that failed nodes, and the diagnoses that catch them. */
import { caRotation } from './ca-rotation.ts'
import { credentialsAndNames } from './credentials-and-names.ts'
import { monitoring } from './monitoring.ts'
import type { ReportSection } from './report-section.ts'
import { requestsAndApproval } from './requests-and-approval.ts'
import { servingAndClients } from './serving-and-clients.ts'
import { signing } from './signing.ts'
import { startAndReturn } from './start-and-return.ts'

export const reportSections: readonly ReportSection[] = [
  startAndReturn,
  credentialsAndNames,
  requestsAndApproval,
  signing,
  servingAndClients,
  caRotation,
  monitoring,
]
