// Loaded with --import into the processes of `rollcall up`: their clock is ahead by the milliseconds that a file says, read
// each time, so that a test can let minutes or days pass. One file for the control plane, one for the nodes.
import { readFileSync } from 'node:fs'

const fleet = process.argv.includes('fleet-process')
const path = fleet ? process.env.ROLLCALL_TEST_FLEET_CLOCK : process.env.ROLLCALL_TEST_CLOCK
const now = Date.now
if (path) Date.now = () => now() + Number(readFileSync(path, 'utf8'))
