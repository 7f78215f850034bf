import type { ValidateFunction } from 'ajv';

export const query: ValidateFunction;
