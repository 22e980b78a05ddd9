import{a}from"./chunk-AYZSXNMH.js";import"./chunk-BBFYWRBC.js";import"./chunk-NJUGU2W4.js";export{a as Here};
