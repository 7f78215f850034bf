import { basename } from 'node:path';

const windows = process.platform === 'win32';
const C = windows ? 'clang' : 'gcc';
const CPP = windows ? 'clang++' : 'g++';

/** The compiler and its flags for debug information, by the ending of a source. */
const COMPILERS: [endings: RegExp, compiler: string][] = [
  [/\.c$/, `${C} -g -O0`],
  [/\.(?:C|cc|cpp|cxx|c\+\+)$/, `${CPP} -g -O0`],
  [/\.m$/, 'clang -g -O0 -framework Foundation'],
  [/\.mm$/, 'clang++ -g -O0 -framework Foundation'],
  [/\.rs$/, 'rustc -g'],
  [/\.f(?:90|95|03|08)?$/i, 'gfortran -g -O0'],
];

/** Two sentences for a source file of a compiled language that was named as the program; nothing for any other file. */
export function notCompiled(given: string): string | undefined {
  const compiler = COMPILERS.find(([endings]) => endings.test(given))?.[1];
  if (compiler === undefined) return undefined;
  const output = given.replace(/\.[^.\\/]+$/, windows ? '.exe' : '');
  return `${basename(given)} is a source file. Compile it with debug information, such as with "${compiler} ${quoted(given)} -o ${quoted(output)}", and name what the compiler made.`;
}

function quoted(path: string): string {
  return /^[\w./\\:+-]+$/.test(path) ? path : `'${path}'`;
}
