// Errors of a template; both end its rendering.

/** The template's own fault, or its refusal of the messages. */
export class TemplateError extends Error {}

/** A value that outgrew its bound. */
export class TooCostly extends Error {}
