import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ip } from '../testing/judged-request.ts'
import { formatIp } from '../x509/ip.ts'
import { embeddedIpv4 } from './embedded-ipv4.ts'

for (const [address, form, inside] of [
  ['64:ff9b::10.0.0.12', 'NAT64', '10.0.0.12'],
  ['64:ff9b::7f00:1', 'NAT64', '127.0.0.1'],
  ['2002:a00:c::1', '6to4', '10.0.0.12'],
  ['2002:7f00:1:2:3:4:5:6', '6to4', '127.0.0.1'],
  ['::10.0.0.12', 'IPv4-compatible', '10.0.0.12'],
  ['::ffff:0:10.0.0.12', 'IPv4-translated', '10.0.0.12'],
  ['64:ff9b:1::10.0.0.12', 'NAT64', '10.0.0.12'],
  ['64:ff9b:1:a00:0:c00::', 'NAT64', '10.0.0.12'],
  ['64:ff9b:1:ff0a:0:c:0:0', 'NAT64', '10.0.0.12'],
  ['64:ff9b:1:ffff:a:0:c00:0', 'NAT64', '10.0.0.12'],
  ['2001:0:4136:e378:8000:63bf:f5ff:fff3', 'Teredo', '10.0.0.12'],
  ['fd00::5efe:10.0.0.12', 'ISATAP', '10.0.0.12'],
  ['2001:db8::200:5efe:10.0.0.12', 'ISATAP', '10.0.0.12'],
] as const)
  test(`${address} is ${form} for ${inside}`, () => {
    const found = embeddedIpv4(ip(address)).map(({ form, bytes }) => `${form} ${formatIp(bytes)}`)
    assert.ok(found.includes(`${form} ${inside}`), `${found}`)
  })

for (const address of [
  '10.0.0.1',
  '::',
  '::1',
  'fd00::11',
  '2001:db8::1',
  '::ffff:10.0.0.1',
  '64:ff9c::1',
  'fd00::1:5efe:a00:c',
])
  test(`${address} stands for no other address`, () => assert.deepEqual(embeddedIpv4(ip(address)), []))
