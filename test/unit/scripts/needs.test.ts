import {expect, it} from 'vitest'
import {findFaults, newestGlibc, parseNeeds} from '../../../scripts/portable/needs.ts'

/** What readelf says of a driver, shortened. */
const DRIVER = `
Dynamic section at offset 0x1f2c0 contains 28 entries:
  Tag                Type                 Name/Value
 0x0000000000000001 (NEEDED)             Shared library: [libm.so.6]
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
 0x0000000000000001 (NEEDED)             Shared library: [ld-linux-x86-64.so.2]
 0x0000000000000001 (NEEDED)             Shared library: [libpthread.so.0]
 0x000000000000000e (SONAME)             Library soname: [libcuda.so.1]

Symbol table '.dynsym' contains 4 entries:
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND memcpy@GLIBC_2.14 (2)
     2: 0000000000000000     0 NOTYPE  WEAK   DEFAULT  UND __gmon_start__
   247: 000000000012cbc0    25 FUNC    GLOBAL DEFAULT   12 cuModuleGetGlobal
   248: 000000000012c680    25 FUNC    WEAK   DEFAULT   12 cuCtxGetFlags

Version needs section '.gnu.version_r' contains 1 entry:
 Addr: 0x0000000000000e08  Offset: 0x00000e08  Link: 4 (.dynstr)
  000000: Version: 1  File: libc.so.6  Cnt: 2
  0x0010:   Name: GLIBC_2.9  Flags: none  Version: 3
  0x0020:   Name: GLIBC_2.28  Flags: none  Version: 2
`

it('a driver that needs glibc 2.28 and shows its API alone runs everywhere', () => {
  const needs = parseNeeds(DRIVER)
  expect(needs).toEqual({
    libraries: ['ld-linux-x86-64.so.2', 'libc.so.6', 'libm.so.6', 'libpthread.so.0'],
    versions: ['GLIBC_2.28', 'GLIBC_2.9'],
    shown: ['cuCtxGetFlags', 'cuModuleGetGlobal'],
  })
  expect(findFaults(needs)).toEqual([])
  expect(newestGlibc(needs)).toBe('2.28')
})

it.each([
  ['a newer glibc', 'Name: GLIBC_2.28', 'Name: GLIBC_2.34', 'needs GLIBC_2.34; glibc 2.28 has to be enough'],
  [
    'what is glibc’s own business',
    'Name: GLIBC_2.28',
    'Name: GLIBC_PRIVATE',
    'needs GLIBC_PRIVATE; glibc 2.28 has to be enough',
  ],
  ['a C++ library', '[libm.so.6]', '[libstdc++.so.6]', 'needs the library libstdc++.so.6'],
  ['any version of one', 'Name: GLIBC_2.28', 'Name: GLIBCXX_3.4', 'needs GLIBCXX_3.4; glibc 2.28 has to be enough'],
  ['a package', '[libm.so.6]', '[libssl.so.3]', 'needs the library libssl.so.3'],
])('%s is found', (_what, from, to, fault) => {
  expect(findFaults(parseNeeds(DRIVER.replace(from, to)))).toEqual([fault])
})

it('what is shown besides the API is found: it would meet the symbols of the program', () => {
  expect(findFaults(parseNeeds(DRIVER.replace('cuCtxGetFlags', '_ZNSt3__16threadD1Ev')))).toEqual([
    'shows _ZNSt3__16threadD1Ev, which is of no API',
  ])
  // A copy of what the C library has, as programs make one.
  expect(
    findFaults(
      parseNeeds(
        DRIVER.replace(
          'FUNC    WEAK   DEFAULT   12 cuCtxGetFlags',
          'OBJECT  GLOBAL DEFAULT   26 stderr@GLIBC_2.2.5 (2)',
        ),
      ),
    ),
  ).toEqual([])
})

it('what is no dynamic program at all is not taken for one that needs nothing', () => {
  expect(() => parseNeeds('readelf: Error: Not an ELF file\n')).toThrow('dynamically')
})
