import type { ValidateFunction } from 'ajv';

export const launch: ValidateFunction;
export const attach: ValidateFunction;
