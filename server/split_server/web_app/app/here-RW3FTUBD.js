import{a}from"./chunk-H6VOH2JK.js";import"./chunk-K6X4ET7P.js";import"./chunk-VFDRVG7N.js";export{a as Here};
