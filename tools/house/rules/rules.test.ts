// Each house rule reports what it forbids, and accepts good code.
import { describe, expect, test } from 'vitest';
import { makeSourceFile, type SourceFile } from '../source-file.ts';
import type { Workspace } from '../workspace.ts';
import { checkClosedExports } from './closed-exports.ts';
import { checkDeadFiles } from './dead-files.ts';
import { checkErrorCatalogue } from './error-catalogue.ts';
import { checkFolderDirection } from './folder-direction.ts';
import { checkImportCycles } from './import-cycles.ts';
import {
  checkDeclaredDependencies,
  checkImportDirection,
  checkUnusedDependencies,
} from './import-direction.ts';
import { checkParameterNames } from './parameter-names.ts';
import { checkPurePackages } from './pure-packages.ts';
import { checkSizes } from './sizes.ts';
import { checkWords } from './words.ts';

const workspaces: Workspace[] = [
  { folder: 'packages/base', name: '@x/base', dependencies: new Set(), exports: new Set() },
  {
    folder: 'packages/ring',
    name: '@x/ring',
    dependencies: new Set(['@x/base', '@x/server']),
    exports: new Set(),
  },
  {
    folder: 'packages/server',
    name: '@x/server',
    dependencies: new Set(['@x/ring', 'ws']),
    exports: new Set(),
  },
  {
    folder: 'tools/bench',
    name: '@x/bench',
    dependencies: new Set(['@x/server']),
    exports: new Set(),
  },
];

const inBase = (text: string): SourceFile[] => [makeSourceFile('packages/base/src/a.ts', text)];
const inRing = (text: string): SourceFile[] => [makeSourceFile('packages/ring/src/a.ts', text)];
const inServer = (text: string): SourceFile[] => [makeSourceFile('packages/server/src/a.ts', text)];

describe('import direction', () => {
  const check = (files: SourceFile[]): number => checkImportDirection(files, workspaces).length;

  test('imports of lower packages are allowed, imports of higher ones or by path are not', () => {
    expect(check(inServer("import { a } from '@x/ring/a';"))).toBe(0);
    expect(check(inRing("import { a } from '@x/base/a';\nimport './b.ts';"))).toBe(0);
    expect(check(inRing("import { a } from '@x/server/a';"))).toBe(1);
    expect(check(inRing("const a = await import('@x/server/a');"))).toBe(1);
    expect(check(inRing("export { a } from '../../base/src/a.ts';"))).toBe(1);
    expect(check(inServer("import { a } from '@x/bench/a';"))).toBe(1);
  });

  test('tests may import test/support, and code may not', () => {
    const text = "import '../../../test/support/wait-for.ts';";
    expect(check([makeSourceFile('packages/ring/src/a.test.ts', text)])).toBe(0);
    expect(check(inRing(text))).toBe(1);
  });

  test('a call named "from" is no import', () => {
    expect(checkDeclaredDependencies(inRing("const a = Buffer.from('abc');"), workspaces)).toEqual(
      [],
    );
  });

  test('an import inside a comment or a string does not count', () => {
    expect(check(inRing("// import { a } from '@x/server/a';"))).toBe(0);
    expect(check(inRing('const a = "import { a } from \'@x/server/a\'";'))).toBe(0);
  });
});

describe('folders of a package', () => {
  const check = (file: string, text: string): number =>
    checkFolderDirection([makeSourceFile(`packages/ring/src/${file}`, text)]).length;

  test('code may import from lower folders only, also types, and tests from all', () => {
    expect(check('audit/a.ts', "import { b } from '../file/b.ts';\nimport './c.ts';")).toBe(0);
    expect(check('file/a.ts', "import type { B } from '../audit/b.ts';")).toBe(1);
    expect(check('ring.ts', "import { b } from './audit/b.ts';")).toBe(1);
    expect(check('file/a.test.ts', "import { b } from '../audit/b.ts';")).toBe(0);
  });

  test('a folder that the rule does not list is reported', () => {
    expect(check('elsewhere/a.ts', '')).toBe(1);
  });

  test('a folder may have forty files, and one more is reported', () => {
    const files = Array.from({ length: 41 }, (_, at) =>
      makeSourceFile(`packages/wire/src/a${at}.ts`, ''),
    );
    expect(checkFolderDirection(files.slice(1))).toEqual([]);
    expect(checkFolderDirection(files)).toHaveLength(1);
  });
});

test('files that import each other are reported once, also for types', () => {
  const check = (...texts: string[]): string[] => {
    const files = texts.map((text, at) => makeSourceFile(`packages/ring/src/f${at}.ts`, text));
    return checkImportCycles(files).map(({ message }) => message);
  };
  const down = "import { c } from './f2.ts';";
  expect(check("import './f1.ts'; import './f2.ts';", down, '')).toEqual([]);
  const [message, ...others] = check(
    "import './f1.ts';",
    down,
    "import type { A } from './f1.ts';",
  );
  expect(message).toContain('f1.ts -> f2.ts -> f1.ts');
  expect(others).toEqual([]);
});

test('a package must export exactly what other packages import', () => {
  const ring = { folder: 'packages/ring', name: '@x/ring', dependencies: new Set<string>() };
  const check = (...exports: string[]): number => {
    const files = inServer("import { a } from '@x/ring/a';");
    return checkClosedExports(files, [{ ...ring, exports: new Set(exports) }]).length;
  };
  expect(check('./a')).toBe(0);
  expect(check()).toBe(1);
  expect(check('./a', './b')).toBe(1);
  const own = makeSourceFile('packages/ring/src/b.ts', "import { a } from '@x/ring/a';");
  expect(checkClosedExports([own], [{ ...ring, exports: new Set() }])).toEqual([]);
});

test('files, clock and chance are reported in pure packages, and hashing is not', () => {
  expect(checkPurePackages(inBase("import fs from 'node:fs';"))).toHaveLength(1);
  expect(checkPurePackages(inBase("import { hash } from 'node:crypto';"))).toHaveLength(0);
  expect(checkPurePackages(inBase('const now = Date.now();'))).toHaveLength(1);
  expect(checkPurePackages(inBase('const luck = Math.random();'))).toHaveLength(1);
  expect(checkPurePackages(inBase('// Math.random() is banned here'))).toHaveLength(0);
  expect(checkPurePackages(inServer('const now = Date.now();'))).toHaveLength(0);
});

test('undeclared and unused dependencies are reported, and declared ones are not', () => {
  const check = (files: SourceFile[]): number =>
    checkDeclaredDependencies(files, workspaces).length;
  expect(check(inServer("import { WebSocket } from 'ws';"))).toBe(0);
  expect(check(inRing("import { WebSocket } from 'ws';"))).toBe(1);
  expect(check(inRing("import { test } from 'vitest';"))).toBe(1);
  const unused = checkUnusedDependencies(inServer("import { WebSocket } from 'ws';"), workspaces);
  const inPackage = unused.filter(({ file }) => file === 'packages/server/package.json');
  expect(inPackage.map(({ message }) => message)).toEqual([expect.stringContaining('@x/ring')]);
});

test('a line may have 100 columns, and a doc comment on one line 112', () => {
  expect(checkSizes(inBase(`/** ${'é'.repeat(105)} */\n`))).toHaveLength(0);
  expect(checkSizes(inBase(`/** ${'é'.repeat(106)} */\n`))).toHaveLength(1);
  expect(checkSizes(inBase(`// ${'é'.repeat(97)}\n`))).toHaveLength(0);
  expect(checkSizes(inBase(`// ${'é'.repeat(98)}\n`))).toHaveLength(1);
});

test('empty names, catch-all files and barrels are reported', () => {
  const check = (text: string): number => checkWords(inBase(text)).length;
  expect(check('class RingManager {}')).toBe(1);
  expect(check('// a RingManager would say nothing')).toBe(0);
  expect(check("export * from './ring.ts';")).toBe(1);
  expect(checkWords([makeSourceFile('packages/base/src/utils.ts', '')])).toHaveLength(1);
});

test('names with words that the glossary has replaced are reported, wire names are not', () => {
  const check = (text: string): number => checkWords(inBase(text)).length;
  expect(check('const onSettledKey = 1;')).toBe(1);
  expect(check('const { brake, seal } = plan; // the mover')).toBe(0);
  expect(check('new DropBrake(mover.review);')).toBe(2);
  expect(check('const embraced = sealevel;')).toBe(0);
  expect(check('decideKey(); // propose')).toBe(1);
});

test('parameters named after how they came are reported, fields and values are not', () => {
  const check = (text: string): number => checkParameterNames(inBase(text)).length;
  expect(check('function f(a: string, given?: { asked: 1 }): void {}')).toBe(1);
  expect(check('const f = (told, a) => told; const g = (a, about) => a;')).toBe(2);
  expect(check('class C { constructor(readonly around: A) {} }')).toBe(1);
  expect(check('const { a, given } = f({ told: 1 }, is ? about : asked); // (given: A)')).toBe(0);
  expect(check('f(a, given); const asked = [told, (about)];')).toBe(0);
});

test('a file that only a test imports is dead, and one that code imports is not', () => {
  const a = makeSourceFile('packages/base/src/a.ts', '');
  const aTest = makeSourceFile('packages/base/src/a.test.ts', "import './a.ts';");
  const bench = makeSourceFile('tools/bench/lookup.ts', "import '@x/base/a';");
  expect(checkDeadFiles([a, aTest], workspaces).map(({ file }) => file)).toEqual([a.file]);
  expect(checkDeadFiles([a, aTest, bench], workspaces)).toEqual([]);
});

test('an error code without a group or without a use is reported', () => {
  const catalogue = makeSourceFile(
    'packages/base/src/errors.ts',
    "  LONE: kind(1, 400, ''),\n  // Group\n  USED: kind(1, 400, ''),\n  SPARE: tryAgain(4, 503, ''),\n",
  );
  const user = inServer("throw new CodedError('USED', ''); throw new CodedError('LONE', '');");
  const lines = checkErrorCatalogue([catalogue, ...user]).map(({ line }) => line);
  expect(lines).toEqual([1, 4]);
});
