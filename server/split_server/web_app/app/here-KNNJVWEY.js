import{a}from"./chunk-ZRSPDHAD.js";import"./chunk-ZGJL6ZZ3.js";import"./chunk-H5CRZIKB.js";export{a as Here};
