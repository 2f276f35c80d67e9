// Rule: inside a package, imports only go down its folders, types included, and no folder holds too
// many files to read. Pure.
import path from 'node:path';
import type { Complaint } from '../complaint.ts';
import type { SourceFile } from '../source-file.ts';

/** Number of files that a reader can survey. Tests do not count. */
const FOLDER_FILES_MAX = 40;

/** Bottom first; '.' is the package's own folder. Folders of one line do not import each other. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  'packages/ring/src': ['partitioner', '.', 'file', 'trust', 'audit'],
  'packages/builder/src': [
    'state',
    'shares',
    'placement',
    'flow',
    'certify',
    'plan',
    'analysis compare',
  ],
  'packages/repository/src': ['folder', 'shared', '.', 'verify'],
  'packages/partition/src': [
    'file',
    'log',
    'audit',
    'side',
    'carrier',
    'store',
    'trash',
    'copy',
    '.',
  ],
  'packages/node/src': ['.', 'v8', 'link'],
  'packages/server/src': [
    'telemetry',
    'device',
    'audit',
    'trust',
    'access',
    'rings',
    'peers',
    'clocks',
    'replica',
    'copies',
    'coordinate',
    'repair',
    'moves',
    'status',
    'redis http',
    '.',
  ],
  'tools/bench': ['measure', 'peers', 'load', 'store move ring push', '.'],
  'tools/ring-builder': [
    'cli',
    'servers',
    'certs',
    'records',
    'versions',
    'moves',
    'plan',
    'health',
    'commands/change commands/simulate commands/apply commands/monitor commands/query',
    'commands/history commands/exchange',
    'commands/preview commands/secure',
    'completion',
    '.',
  ],
};

/** Every folder of source files with subfolders needs a line in FOLDERS. */
export function checkFolderDirection(files: readonly SourceFile[]): Complaint[] {
  return [...crowded(files), ...files.flatMap(upward)];
}

function crowded(files: readonly SourceFile[]): Complaint[] {
  const counts = new Map<string, number>();
  for (const { file, isTest } of files) {
    if (isTest || !/^packages\/[^/]+\/src\/|^tools\//.test(file)) continue;
    const folder = path.posix.dirname(file);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > FOLDER_FILES_MAX)
    .map(([file, count]) => {
      const message = `${count} files, at most ${FOLDER_FILES_MAX}: make folders of them`;
      return { file, line: 0, message };
    });
}

function upward({ file, isTest, imports }: SourceFile): Complaint[] {
  const top = Object.keys(FOLDERS).find((folder) => file.startsWith(`${folder}/`));
  if (isTest || top === undefined) return [];
  const order = FOLDERS[top] ?? [];
  const ownFolder = folderBelow(top, file);
  const level = levelOf(order, ownFolder);
  if (level === -1) {
    return [
      { file, line: 0, message: `${ownFolder} of ${top} has no place: rules/folder-direction.ts` },
    ];
  }
  return imports.flatMap(({ specifier, line }) => {
    if (!specifier.startsWith('.')) return [];
    const importedFolder = folderBelow(top, path.posix.join(path.posix.dirname(file), specifier));
    const isDown = importedFolder === ownFolder || levelOf(order, importedFolder) < level;
    if (isDown) return [];
    const message = `${ownFolder} may not import ${importedFolder}: move the shared part lower`;
    return [{ file, line, message }];
  });
}

function folderBelow(top: string, file: string): string {
  return path.posix.dirname(path.posix.relative(top, file)) || '.';
}

function levelOf(order: readonly string[], folder: string): number {
  return order.findIndex((line) => line.split(' ').includes(folder));
}
