// Lets a Node process run TypeScript sources: `node --conditions=holdfast-source --import <this file> src/main.ts`.
import { register } from 'node:module';

register('./hooks.mjs', import.meta.url);
