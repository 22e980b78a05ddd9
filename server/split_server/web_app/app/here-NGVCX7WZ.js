import{a}from"./chunk-GR75QVNS.js";import"./chunk-PSI3NLYF.js";import"./chunk-2VTNPUQ7.js";export{a as Here};
