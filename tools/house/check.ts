// Program: checks the house rules. Tools check types, lint and format; rules/ has the rest.
import path from 'node:path';
import type { Complaint } from './complaint.ts';
import { formatComplaint } from './complaint.ts';
import { checkClosedExports } from './rules/closed-exports.ts';
import { checkDeadFiles } from './rules/dead-files.ts';
import { checkErrorCatalogue } from './rules/error-catalogue.ts';
import { checkFolderDirection } from './rules/folder-direction.ts';
import { checkImportCycles } from './rules/import-cycles.ts';
import {
  checkDeclaredDependencies,
  checkImportDirection,
  checkUnusedDependencies,
} from './rules/import-direction.ts';
import { checkParameterNames } from './rules/parameter-names.ts';
import { checkPurePackages } from './rules/pure-packages.ts';
import { checkSizes } from './rules/sizes.ts';
import { checkWords } from './rules/words.ts';
import { runTool, tools } from './run-tool.ts';
import { readSourceFiles, type SourceFile } from './source-file.ts';
import { readWorkspaces, type Workspace } from './workspace.ts';

type Rule = (files: readonly SourceFile[], workspaces: readonly Workspace[]) => Complaint[];

const rules: readonly Rule[] = [
  checkImportDirection,
  checkFolderDirection,
  checkImportCycles,
  checkClosedExports,
  checkPurePackages,
  checkDeclaredDependencies,
  checkUnusedDependencies,
  checkSizes,
  checkWords,
  checkParameterNames,
  checkDeadFiles,
  checkErrorCatalogue,
];

const root = path.resolve(import.meta.dirname, '../..');
const started = performance.now();
const running = tools.map((tool) => runTool(tool, root));
const files = readSourceFiles(root);
const workspaces = readWorkspaces(root);
const complaints = [
  ...rules.flatMap((rule) => rule(files, workspaces)),
  ...(await Promise.all(running)).flat(),
];

const seconds = ((performance.now() - started) / 1000).toFixed(1);
for (const line of complaints.map(formatComplaint).sort()) console.log(line);
console.log(
  `check: ${files.length} files, ${tools.length} tools, ${rules.length} rules, ` +
    `${complaints.length} complaints (${seconds} s)`,
);
process.exitCode = complaints.length === 0 ? 0 : 1;
