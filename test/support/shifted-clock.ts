import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './rollcall-process.ts'

/**
 * Laid over libc's own, so that Node.js and OpenSSL in it believe the same wrong time; what measures durations stays. How
 * far ahead, in seconds, stands in a file that the test writes and the process has mapped.
 */
const library = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile long long *ahead;
__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("ROLLCALL_TEST_CLOCK");
  int file = path ? open(path, O_RDONLY) : -1;
  if (file < 0) return;
  void *mapped = mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) ahead = mapped;
  close(file);
}
int clock_gettime(clockid_t clock, struct timespec *now) {
  int failed = syscall(SYS_clock_gettime, clock, now);
  if (!failed && ahead && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += *ahead;
  return failed;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}
time_t time(time_t *into) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (into) *into = now.tv_sec;
  return now.tv_sec;
}
`

/** Why no process can be made to believe a wrong time; false: one can. */
export const noShiftedClock: string | false =
  !existsSync('/usr/bin/gcc') && 'needs /usr/bin/gcc (Debian: gcc)'

export interface ShiftedClock {
  /** Of a process that is to believe this clock. */
  environment: Record<string, string>
  /** Sets it to this moment, milliseconds since the epoch; it goes on from there. undefined: to the right time. */
  set(moment: number | undefined): void
  remove(): void
}

export function shiftedClock(): ShiftedClock {
  const folder = temporaryFolder()
  const [source, object, ahead] = ['clock.c', 'clock.so', 'ahead'].map(name => join(folder.path, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(source, library)
  execFileSync('/usr/bin/gcc', ['-shared', '-fPIC', '-O1', '-o', object, source])
  const write = (seconds: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(seconds))
    // In place, as the file is mapped.
    writeFileSync(ahead, bytes, { flag: existsSync(ahead) ? 'r+' : 'w' })
  }
  write(0)
  return {
    environment: { LD_PRELOAD: object, ROLLCALL_TEST_CLOCK: ahead },
    set: moment => write(moment === undefined ? 0 : Math.round((moment - Date.now()) / 1000)),
    remove: () => folder.remove(),
  }
}
