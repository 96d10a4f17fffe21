import { type Command, shellWord } from '../survey/explanation.ts'

/** Sets rotateCertificates in a KubeletConfiguration. */
export const rotateOn = (path: string): Command => ({
  run: `sed -i '/^rotateCertificates:/d; $ a rotateCertificates: true' ${shellWord(path)}`,
  purpose: 'on the node',
})
