import { systemClock } from '../host/clock.ts'
import { systemDisk } from '../host/disk.ts'
import { systemRandom } from '../host/random.ts'

/** This machine's own clock, randomness and files. */
export const hostPorts = { clock: systemClock, random: systemRandom, disk: systemDisk }
