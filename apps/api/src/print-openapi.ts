/** Prints the OpenAPI document: `npm run openapi` writes it to packages/api-client. */
import 'reflect-metadata';
import { CONTROLLERS } from './app/app.module.js';
import { openApiDocument } from './openapi/openapi.js';

process.stdout.write(`${JSON.stringify(openApiDocument(CONTROLLERS), null, 2)}\n`);
