import { jsonDocument, type ServedDocument } from './wire/document.ts'

/** The Kubernetes release whose API this server speaks; what follows the plus tells that it is not kube-apiserver. */
const release = { major: '1', minor: '36', gitVersion: 'v1.36.0+rollcall' }

/** GET /version: version.Info of apimachinery. */
export function versionDocument(): ServedDocument {
  return jsonDocument({
    ...release,
    emulationMajor: release.major,
    emulationMinor: release.minor,
    minCompatibilityMajor: release.major,
    minCompatibilityMinor: '35',
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: '',
    platform: '',
  })
}
