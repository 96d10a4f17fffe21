// Holds two rules of ARCHITECTURE.md: imports go one way, and only src/host and the programs touch the outside world;
// and one of CONTRIBUTING.md: a unit test sets up nothing for the tests of other files.
// Usage: node scripts/check-source.mjs [ROOT]
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url)))

/** Lower rooms first. A room may import its own level only where it is itself. */
const levels = [
  ['ports.ts', 'errors.ts'],
  ['x509'],
  ['keys'],
  ['kube'],
  ['join', 'approve', 'sign', 'hold', 'trust', 'rollover', 'survey', 'pods'],
  ['apiserver', 'agent', 'controller', 'doctor'],
  ['fleet', 'dashboard'],
  ['cluster'],
  ['cli'],
]
const levelOf = room => levels.findIndex(level => level.includes(room))
/** Real clock, disk and random; test equipment. Only programs and tests take them in. */
const mayUseHost = new Set(['cli', 'cluster', 'host', 'fleet'])
/** Places that are themselves a door: they may touch node's own clock, timers, files and environment. */
const doors = [
  /^src\/host\//,
  /^src\/cli\//,
  /^src\/cluster\//,
  /\/testing\//,
  /\/sqlite-[a-z-]+\.ts$/,
  /\.test\.ts$/,
]
const forbidden = [
  [/\bDate\.now\(/, 'Date.now()'],
  [/\bnew Date\(\)/, 'new Date()'],
  [/\bMath\.random\(/, 'Math.random()'],
  [/(?<![.\w])set(?:Timeout|Interval)\(/, 'setTimeout/setInterval'],
  [/\bprocess\.env\b/, 'process.env'],
  [
    /from 'node:(?:fs|fs\/promises|child_process|timers|timers\/promises)'/,
    'node:fs, child_process or timers',
  ],
]

const problems = []
for (const file of globSync('src/**/*.ts', { cwd: root }).sort()) {
  const text = readFileSync(join(root, file), 'utf8')
  checkImports(file, text)
  if (!doors.some(door => door.test(file))) checkDoors(file, text)
  if (/^import (?!type )[^']*'node:http'/m.test(text) && !isTestEquipment(file))
    problems.push(`${file}: an import of node:http loads all of fetch; take it from src/kube/node-http.ts`)
  // All unit tests run in one process, where a hook outside of any suite runs around every test of every file.
  if (/^(?:before|after)Each\(/m.test(text))
    problems.push(`${file}: a hook for all files; use t.after or a suite`)
}
for (const problem of problems) console.error(problem)
process.exit(problems.length === 0 ? 0 : 1)

/** Beside the code or shared; no part of the program. */
function isTestEquipment(file) {
  return file.endsWith('.test.ts') || file.includes('/testing/')
}

function checkImports(file, text) {
  const room = file.split('/')[1]
  const isTest = isTestEquipment(file)
  for (const [, typeOnly, path] of text.matchAll(/^import (type )?[^'"]*['"](\.[^'"]+)['"]/gms)) {
    const target = posix.join(posix.dirname(file), path).split('/')[1]
    if (target === room || isTest) continue
    if (target === 'testing') problems.push(`${file}: imports test equipment ${path}`)
    else if (target === 'host') {
      if (!mayUseHost.has(room))
        problems.push(`${file}: imports ${path}; the real clock, disk and random are passed in`)
    } else if (room === 'host') continue
    else if (levelOf(target) > levelOf(room)) problems.push(`${file}: imports the higher room ${path}`)
    else if (levelOf(target) === levelOf(room) && !typeOnly)
      problems.push(`${file}: imports its neighbour ${path} (only types may be)`)
    if (levelOf(target) === -1 && target !== 'host' && target !== 'testing')
      problems.push(`${file}: ${path} is in no room of scripts/check-source.mjs`)
  }
}

function checkDoors(file, text) {
  text.split('\n').forEach((line, index) => {
    if (/^\s*(\/\/|\*|\/\*)/.test(line)) return
    for (const [pattern, name] of forbidden) {
      if (pattern.test(line))
        problems.push(`${file}:${index + 1}: ${name}; take it from src/ports.ts instead`)
    }
  })
}
