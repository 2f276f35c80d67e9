#!/bin/sh
//bin/sh -c :; bin="$(dirname "$(readlink -f "$0")")/../../node_modules/.bin"
//bin/sh -c :; exec env PATH="$bin:$PATH" node "$0" "$@"
// Program: ring-server. From its second start on it runs the code that Node has cached.
import { bundleOf } from '@ringwright/node/bundle';
import { prepareNode } from '@ringwright/node/prepare-node';

const compiled = prepareNode('ring-server');
// For the helper processes, which copy and audit files.
if (compiled !== undefined) process.env.NODE_COMPILE_CACHE ??= compiled;
await import(bundleOf('ring-server') ?? './main.ts');
