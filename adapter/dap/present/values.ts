import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Scope, Variable } from '../../../protocol/control';
import type { Task } from '../../engine/tasks';
import type { Client } from '../client';
import { memoryReference } from './memory';

export function presentScope(client: Client, task: Task, scope: Scope): DebugProtocol.Scope {
  return {
    name: scope.name,
    ...(scope.hint ? { presentationHint: scope.hint } : {}),
    variablesReference: client.valueHandle(task, scope.ref),
    ...counts(scope),
    expensive: scope.expensive,
  };
}

export function presentVariable(client: Client, task: Task, variable: Variable): DebugProtocol.Variable {
  return {
    name: variable.name,
    value: variable.value,
    ...(variable.type ? { type: variable.type } : {}),
    variablesReference: client.valueHandle(task, variable.ref),
    ...counts(variable),
    ...(variable.evaluateName ? { evaluateName: variable.evaluateName } : {}),
    ...(variable.memory ? { memoryReference: memoryReference(task.process, variable.memory) } : {}),
    ...definitionOf(client, task, variable),
    ...hintOf(variable),
  };
}

/** A value that stands alone: the answer of an evaluation or an edit. Without a task nothing below it can be opened. */
export function presentResult(client: Client, task: Task | undefined, variable: Variable) {
  return {
    ...(variable.type ? { type: variable.type } : {}),
    variablesReference: task ? client.valueHandle(task, variable.ref) : 0,
    ...counts(variable),
    ...(task && variable.memory ? { memoryReference: memoryReference(task.process, variable.memory) } : {}),
    ...(task ? definitionOf(client, task, variable) : {}),
    ...hintOf(variable),
  };
}

/** What leads to the definition of a function or class: a number of the same sort as those of values. */
function definitionOf(client: Client, task: Task, { location }: Variable): { valueLocationReference?: number } {
  return location === undefined ? {} : { valueLocationReference: client.valueHandle(task, location) };
}

/** Counts say how to page through children; where there are none, there is nothing to say. */
function counts(of: { ref: number; named?: number; indexed?: number }): {
  namedVariables?: number;
  indexedVariables?: number;
} {
  if (of.ref === 0) {
    return {};
  }
  return {
    ...(of.named === undefined ? {} : { namedVariables: of.named }),
    ...(of.indexed === undefined ? {} : { indexedVariables: of.indexed }),
  };
}

function hintOf(variable: Variable): { presentationHint?: DebugProtocol.VariablePresentationHint } {
  const attributes = new Set(variable.attributes ?? []);
  if (!variable.editable) {
    attributes.add('readOnly');
  }
  const hint: DebugProtocol.VariablePresentationHint = {
    ...(variable.kind ? { kind: variable.kind } : {}),
    ...(attributes.size > 0 ? { attributes: [...attributes] } : {}),
    ...(variable.lazy ? { lazy: true } : {}),
  };
  return Object.keys(hint).length > 0 ? { presentationHint: hint } : {};
}
