// A source file for the rules: its text, its code without comments and strings, its imports.
import fs from 'node:fs';
import path from 'node:path';
import { maskCode } from './mask-code.ts';

interface Import {
  readonly line: number;
  /** The text between the quotes. */
  readonly specifier: string;
}

export interface SourceFile {
  /** Path from the root, with forward slashes. */
  readonly file: string;
  readonly text: string;
  readonly lines: readonly string[];
  /** `lines` with comments and string contents blanked. */
  readonly code: readonly string[];
  readonly imports: readonly Import[];
  /** Whether it is a test, or test support: in a folder named test. */
  readonly isTest: boolean;
}

const SOURCE_FOLDERS = ['packages', 'tools', 'test'];
const SOURCE_NAME = /\.(ts|tsx|mjs)$/;

/** Returns every source file below packages, tools and test, sorted by path. */
export function readSourceFiles(root: string): SourceFile[] {
  return SOURCE_FOLDERS.filter((folder) => fs.existsSync(path.join(root, folder)))
    .flatMap((folder) => sourcesBelow(root, folder))
    .sort()
    .map((file) => makeSourceFile(file, fs.readFileSync(path.join(root, file), 'utf8')));
}

function sourcesBelow(root: string, folder: string): string[] {
  return fs
    .readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && SOURCE_NAME.test(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.split(path.sep).includes('node_modules'));
}

export function makeSourceFile(file: string, text: string): SourceFile {
  const masked = maskCode(text);
  return {
    file: file.replaceAll('\\', '/'),
    text,
    lines: text.split('\n'),
    code: masked.split('\n'),
    imports: findImports(text, masked),
    isTest: /\.test\.tsx?$|(^|\/)test\//.test(file),
  };
}

/** Finds static and dynamic imports, re-exports, and `new URL('./x.ts', import.meta.url)`. */
function findImports(text: string, masked: string): Import[] {
  const opening =
    /(?<![.\w])from\s*(?=['"])|(?<![.\w])import\s*\(?\s*(?=['"])|\bnew URL\(\s*(?=['"])/g;
  return [...masked.matchAll(opening)].flatMap((match) => {
    const start = match.index + match[0].length;
    const specifier = text.slice(start + 1, text.indexOf(text.charAt(start), start + 1));
    // A URL is a module only if it is a path relative to the file.
    if (match[0].startsWith('new') && !specifier.startsWith('.')) return [];
    return [{ line: text.slice(0, start).split('\n').length, specifier }];
  });
}
